package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;

/// How many firewall rules the VMs of one account may be made with.
public final class RuleLimit {
    private static final int MAX = 1000;

    private RuleLimit() {}

    /// Refuses rules that would take an account, which has `present` rules, over its limit.
    public static void requireRoom(long more, long present) {
        if (present + more > MAX) {
            throw new Failure(
                    Code.CONFLICT,
                    "firewall.rules: an account has at most %d rules and this one has %d; delete some or send fewer"
                            .formatted(MAX, present));
        }
    }
}
