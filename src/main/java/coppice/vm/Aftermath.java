package coppice.vm;

import java.time.Instant;
import java.util.Optional;

/// What becomes of a VM that failed: it waits to be started again, or it is stopped.
record Aftermath(VmState.Resting state, Failures failures) {

    /// @param why it failed, in words that fit behind a colon
    static Aftermath of(Vm vm, String why, Instant now) {
        var failures = vm.history().failures().and(now);
        if (!vm.settings().automaticRestart() || !vm.hasBudget(now)) {
            return stopped(why, now);
        }
        if (failures.areTooMany()) {
            return stopped("it failed too often and is not started again by itself: " + why, now);
        }
        var due = now.plus(failures.pause());
        return new Aftermath(new VmState.Restarting(now, due, Optional.of(why)), failures);
    }

    private static Aftermath stopped(String why, Instant now) {
        return new Aftermath(new VmState.Stopped(now, Optional.of(why)), Failures.NONE);
    }
}
