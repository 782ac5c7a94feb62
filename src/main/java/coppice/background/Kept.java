package coppice.background;

import coppice.identity.AccountId;
import java.util.HashMap;
import java.util.Map;

/// Counts what is kept of requests, running and finished: rows, and the bytes of their bodies. As the store has it, which takes long to
/// count.
final class Kept {
    private final BackgroundLimits limits;
    private final Map<AccountId, Amount> ofAccounts = new HashMap<>();
    private long bytesOfAll;

    /// @param records how many rows
    /// @param bytes of bodies
    record Amount(long records, long bytes) {
        static final Amount NONE = new Amount(0, 0);

        Amount plus(long moreRecords, long moreBytes) {
            return new Amount(records + moreRecords, bytes + moreBytes);
        }
    }

    /// @param stored what there is at the start
    Kept(BackgroundLimits limits, Map<AccountId, Amount> stored) {
        this.limits = limits;
        stored.forEach((account, amount) -> add(account, amount.records, amount.bytes));
    }

    private void add(AccountId account, long records, long bytes) {
        ofAccounts.merge(
                account,
                new Amount(records, bytes),
                (before, _) -> {
                    var after = before.plus(records, bytes);
                    return after.equals(Amount.NONE) ? null : after;
                });
        bytesOfAll += bytes;
    }

    /// Whether there was room for one more row.
    synchronized boolean begin(AccountId account) {
        if (of(account).records >= limits.records()) {
            return false;
        }
        add(account, 1, 0);
        return true;
    }

    /// Whether there was room for a body.
    synchronized boolean keep(AccountId account, long bytes) {
        if (of(account).bytes + bytes > limits.kept().bytes()
                || bytesOfAll + bytes > limits.keptOfAll().bytes()) {
            return false;
        }
        add(account, 0, bytes);
        return true;
    }

    synchronized void drop(AccountId account, long records, long bytes) {
        add(account, -records, -bytes);
    }

    private Amount of(AccountId account) {
        return ofAccounts.getOrDefault(account, Amount.NONE);
    }
}
