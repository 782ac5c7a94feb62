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

    /// Refuses so many running VMs more.
    void requireRunning(AccountId account, int more) {
        long now = fleet.of(account).filter(vm -> !(vm.state() instanceof VmState.Resting)).count();
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
