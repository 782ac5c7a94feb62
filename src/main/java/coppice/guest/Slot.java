package coppice.guest;

import coppice.base.Deadline;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// A place for one value that another thread waits for. The first value stays.
final class Slot<T> {
    private final AtomicReference<T> value = new AtomicReference<>();
    private final CountDownLatch filled = new CountDownLatch(1);

    void fill(T first) {
        if (value.compareAndSet(null, first)) {
            filled.countDown();
        }
    }

    boolean isFilled() {
        return value.get() != null;
    }

    Optional<T> value() {
        return Optional.ofNullable(value.get());
    }

    /// Empty if the deadline came first.
    Optional<T> await(Deadline deadline) throws InterruptedException {
        var _ = filled.await(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        return Optional.ofNullable(value.get());
    }
}
