package coppice.guest;

import coppice.base.Deadline;
import java.net.ProtocolException;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Guards the body and the inlets of a request. What goes on over several connections has one for all its calls, so that whoever looks at
/// what flows need not know which of them is under way.
final class Monitor {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Not to be held while anything is waited for.
    ReentrantLock lock() {
        return lock;
    }

    /// Wakes those that wait; by who holds the lock.
    void tell() {
        changed.signalAll();
    }

    /// Looks whenever something changed, under the lock, until something is found; empty if the deadline came first.
    <T> Optional<T> await(Call.Look<T> look, Deadline deadline)
            throws ProtocolException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                var found = look.now();
                if (found.isPresent() || deadline.isPast()) {
                    return found;
                }
                long _ = changed.awaitNanos(deadline.left().toNanos());
            }
        } finally {
            lock.unlock();
        }
    }
}
