package coppice.vm;

import coppice.network.NewRule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// What the copies of a fork are to be.
///
/// @param count how many, 1 to 10
/// @param settings what a copy's settings are, given those that it takes over from the VM it is copied from
/// @param rules firewall rules of each copy; in each, one end is bare and means the copy
/// @param legacy what only the legacy family says about a VM, given what the VM it is copied from has
/// @param patience how long the caller waits for them; what is late stays. Absent: as long as a start may take, and then none stays
public record NewFork(
        int count,
        UnaryOperator<Vm.Settings> settings,
        List<NewRule> rules,
        UnaryOperator<Vm.Legacy> legacy,
        Optional<Duration> patience) {
    public static final int MAX_COUNT = 10;
}
