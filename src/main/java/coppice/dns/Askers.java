package coppice.dns;

import coppice.base.IpAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// Holds those who ask to their limits. Thread-safe; its lock is held for arithmetic only.
final class Askers {
    /// Of the datagrams above the limit, each such one is answered that the client should come by TCP: one that is no flood can.
    private static final int SLIP = 4;

    /// With more shares than that, those that are at rest are forgotten.
    private static final int MIN_SWEPT = 1024;

    /// So many bytes from upstream count as a query. Almost all answers are shorter.
    private static final int QUERY_LENGTH = 1 << 10;

    private static final double NANOS = Duration.ofSeconds(1).toNanos();

    private final ResolverSettings.PerClient limits;
    private final ResolverSettings.InAll inAll;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<IpAddress, Share> shares = new HashMap<>();
    private int sweepAt = MIN_SWEPT;
    private int forwarded;
    private int connections;

    /// What becomes of a datagram.
    enum Admission {
        ANSWERED,
        TRUNCATED,
        DROPPED
    }

    Askers(ResolverSettings.PerClient limits, ResolverSettings.InAll inAll, InstantSource clock) {
        this.limits = limits;
        this.inAll = inAll;
        this.clock = clock;
    }

    Admission admit(Asker asker) {
        var now = clock.instant();
        lock.lock();
        try {
            var share = share(asker, now);
            if (share.takeToken()) {
                return Admission.ANSWERED;
            }
            share.over++;
            return share.over % SLIP == 0 ? Admission.TRUNCATED : Admission.DROPPED;
        } finally {
            lock.unlock();
        }
    }

    /// Zero: it is the client's turn, and was taken.
    Duration untilTurn(Asker asker) {
        var now = clock.instant();
        lock.lock();
        try {
            var share = share(asker, now);
            return share.takeToken()
                    ? Duration.ZERO
                    : Duration.ofNanos((long) ((1 - share.tokens) / limits.rate() * NANOS) + 1);
        } finally {
            lock.unlock();
        }
    }

    /// What came from upstream for this client, who can make it long and costly to read, counts as queries if it is long.
    void charge(Asker asker, int length) {
        lock.lock();
        try {
            shares.get(asker.share()).tokens -= length / QUERY_LENGTH;
        } finally {
            lock.unlock();
        }
    }

    /// @return whether there is room for one more; it holds a place until [#endForwarding]
    boolean beginForwarding(Asker asker) {
        var now = clock.instant();
        lock.lock();
        try {
            var share = share(asker, now);
            boolean isAllowed =
                    share.forwarded < limits.maxForwarded() && forwarded < inAll.maxForwarded();
            if (isAllowed) {
                share.forwarded++;
                forwarded++;
            }
            return isAllowed;
        } finally {
            lock.unlock();
        }
    }

    void endForwarding(Asker asker) {
        lock.lock();
        try {
            shares.get(asker.share()).forwarded--;
            forwarded--;
        } finally {
            lock.unlock();
        }
    }

    /// @return whether there is room for one more; it holds a place until [#closeConnection]
    boolean openConnection(Asker asker) {
        var now = clock.instant();
        lock.lock();
        try {
            var share = share(asker, now);
            boolean isAllowed =
                    share.connections < limits.maxConnections()
                            && connections < inAll.maxConnections();
            if (isAllowed) {
                share.connections++;
                connections++;
            }
            return isAllowed;
        } finally {
            lock.unlock();
        }
    }

    void closeConnection(Asker asker) {
        lock.lock();
        try {
            shares.get(asker.share()).connections--;
            connections--;
        } finally {
            lock.unlock();
        }
    }

    /// How many clients are remembered.
    int shares() {
        lock.lock();
        try {
            return shares.size();
        } finally {
            lock.unlock();
        }
    }

    private Share share(Asker asker, Instant now) {
        var share = shares.get(asker.share());
        if (share == null) {
            sweep(now);
            share = new Share(now);
            shares.put(asker.share(), share);
        }
        share.refill(now);
        return share;
    }

    private void sweep(Instant now) {
        if (shares.size() >= sweepAt) {
            shares.values().removeIf(share -> share.isAtRest(now));
            sweepAt = Math.max(MIN_SWEPT, 2 * shares.size());
        }
    }

    /// What one client has taken.
    private final class Share {
        private double tokens = limits.burst();
        private Instant filled;
        private long over;
        private int forwarded;
        private int connections;

        Share(Instant now) {
            this.filled = now;
        }

        /// A clock that was set back refills nothing, and goes on from there.
        void refill(Instant now) {
            double seconds = Math.max(0, Duration.between(filled, now).toNanos() / NANOS);
            tokens = Math.min(limits.burst(), tokens + seconds * limits.rate());
            filled = now;
        }

        boolean takeToken() {
            if (tokens < 1) {
                return false;
            }
            tokens--;
            return true;
        }

        boolean isAtRest(Instant now) {
            refill(now);
            return forwarded == 0 && connections == 0 && tokens == limits.burst();
        }
    }
}
