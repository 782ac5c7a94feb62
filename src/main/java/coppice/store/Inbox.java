package coppice.store;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The bounded line of units that wait for a thread. After closing it takes no more, and gives out what it has.
final class Inbox implements AutoCloseable {
    private final int limit;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Unit<?>> waiting = new ArrayDeque<>();
    private boolean isClosed;

    Inbox(int limit) {
        this.limit = limit;
    }

    void put(Unit<?> unit) {
        lock.lock();
        try {
            if (isClosed) {
                throw new Failure(
                        Code.UNAVAILABLE, "the store is closed; try again after the start");
            }
            if (waiting.size() >= limit) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the store has %d requests waiting, its limit; try again later"
                                .formatted(limit));
            }
            waiting.add(unit);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the next unit; empty once this is closed and nothing is left.
    Optional<Unit<?>> take() {
        lock.lock();
        try {
            while (waiting.isEmpty() && !isClosed) {
                changed.awaitUninterruptibly();
            }
            return Optional.ofNullable(waiting.poll());
        } finally {
            lock.unlock();
        }
    }

    /// The next unit, if one is there.
    Optional<Unit<?>> poll() {
        lock.lock();
        try {
            return Optional.ofNullable(waiting.poll());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
