package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import java.util.Map;

/// How many VMs an account may have, and how many of them may run.
final class Quota {
    private final Fleet fleet;
    private final VmLimits limits;

    Quota(Fleet fleet, VmLimits limits) {
        this.fleet = fleet;
        this.limits = limits;
    }

    /// Refuses so many VMs more.
    void requireVms(AccountId account, int more) {
        long now = fleet.of(account).count();
        limits.allVms()
                .filter(limit -> now + more > limit)
                .ifPresent(
                        limit -> {
                            throw new Failure(
                                    Code.TOTAL_VM_LIMIT_EXCEEDED,
                                    "this account may have %d VMs and has %d; delete some"
                                            .formatted(limit, now),
                                    Map.of("limit", limit, "current", now));
                        });
    }

    /// Refuses to start a VM that does not run.
    void requireStart(Vm vm) {
        if (!counts(vm)) {
            requireRunning(vm.account(), 1);
        }
    }

    /// Whether a VM is one of those that run: it does, it is about to, or it does not yet rest.
    private static boolean counts(Vm vm) {
        return switch (vm.state()) {
            case VmState.Paused _, VmState.Stopped _ -> false;
            case VmState.Creating _,
                    VmState.Starting _,
                    VmState.Running _,
                    VmState.Pausing _,
                    VmState.Restarting _ ->
                    true;
        };
    }

    /// Refuses so many running VMs more.
    void requireRunning(AccountId account, int more) {
        long now = fleet.of(account).filter(Quota::counts).count();
        limits.runningVms()
                .filter(limit -> now + more > limit)
                .ifPresent(
                        limit -> {
                            throw new Failure(
                                    Code.VM_LIMIT_EXCEEDED,
                                    "this account may have %d running VMs and has %d; pause or stop some"
                                            .formatted(limit, now),
                                    Map.of("limit", limit, "current", now));
                        });
    }
}
