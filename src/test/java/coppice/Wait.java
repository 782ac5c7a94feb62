package coppice;

import coppice.base.Deadline;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Waits for what nothing announces. It looks a hundred times a second, no more: the processors are for what it waits for.
public final class Wait {
    private static final long PACE = Duration.ofMillis(10).toNanos();

    private Wait() {}

    /// Fails with the message when it is not so in time.
    public static void until(Duration patience, BooleanSupplier isSo, Supplier<String> otherwise) {
        var deadline = Deadline.in(patience);
        while (!isSo.getAsBoolean()) {
            if (deadline.isPast()) {
                throw new AssertionError(otherwise.get());
            }
            moment();
        }
    }

    /// Looks again and again for so long.
    public static void through(Duration time, Runnable look) {
        var deadline = Deadline.in(time);
        do {
            look.run();
            moment();
        } while (!deadline.isPast());
    }

    /// Between two looks.
    public static void moment() {
        LockSupport.parkNanos(PACE);
    }
}
