package coppice.background;

import coppice.base.Deadline;
import coppice.identity.AccountId;
import java.util.HashMap;
import java.util.Map;

/// Counts the requests that go on in the background.
final class Room {
    private final BackgroundLimits limits;
    private final Map<AccountId, Integer> ofAccounts = new HashMap<>();
    private int all;
    private int bound;

    Room(BackgroundLimits limits) {
        this.limits = limits;
    }

    /// @param isBound whether only this server can bring it to its end
    /// @return whether there was room for one more
    synchronized boolean take(AccountId account, boolean isBound) {
        int mine = ofAccounts.getOrDefault(account, 0);
        if (all >= limits.running() || mine >= limits.runningOfAccount()) {
            return false;
        }
        ofAccounts.put(account, mine + 1);
        all++;
        bound += isBound ? 1 : 0;
        return true;
    }

    synchronized void release(AccountId account, boolean isBound) {
        ofAccounts.computeIfPresent(account, (_, mine) -> mine == 1 ? null : mine - 1);
        all--;
        bound -= isBound ? 1 : 0;
        notifyAll();
    }

    /// Waits until nothing goes on that no later server can go on with, or that is past.
    synchronized void awaitBound(Deadline deadline) {
        try {
            while (bound > 0 && !deadline.isPast()) {
                wait(Math.max(1, deadline.left().toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
