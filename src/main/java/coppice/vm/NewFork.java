package coppice.vm;

import java.util.function.UnaryOperator;

/// What the copies of a fork are to be.
///
/// @param count how many, 1 to 10
/// @param settings what a copy's settings are, given those that it takes over from the VM it is copied from
/// @param firewall the rules each is made with, a JSON array
/// @param legacy what only the legacy family says about a VM, given what the VM it is copied from has
public record NewFork(
        int count,
        UnaryOperator<Vm.Settings> settings,
        String firewall,
        UnaryOperator<Vm.Legacy> legacy) {
    public static final int MAX_COUNT = 10;
}
