package coppice.guest;

import java.util.LinkedHashSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The senders that may have something to send, in turn. Holds no frames, so it grows only with the number of senders.
final class Outbox {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final LinkedHashSet<Sender> ready = new LinkedHashSet<>();
    private boolean isTakerWaiting;

    /// Puts the sender at the end of the queue, unless it is in it.
    void ready(Sender sender) {
        lock.lock();
        try {
            ready.add(sender);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /// Whether all that there was to send has been written.
    boolean isIdle() {
        lock.lock();
        try {
            return ready.isEmpty() && isTakerWaiting;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the next sender. The writer thread is interrupted when the connection closes.
    Sender take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (ready.isEmpty()) {
                isTakerWaiting = true;
                changed.await();
            }
            isTakerWaiting = false;
            return ready.removeFirst();
        } finally {
            lock.unlock();
        }
    }
}
