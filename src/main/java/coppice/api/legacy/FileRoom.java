package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/// Room for the large files that are in memory at one time: here a file is a value in one JSON object, so it is held whole. From any
/// thread.
final class FileRoom {
    /// Smaller files are not counted: the limit on requests bounds them well enough.
    private static final Size SMALL = new Size(64 << 10);

    private static final int UNIT = 1 << 10;

    private final Semaphore units;

    FileRoom(Size all) {
        this.units = new Semaphore(units(all.bytes()));
    }

    /// Held until it is closed.
    interface Taken extends AutoCloseable {
        @Override
        void close();
    }

    /// Does not wait: `UNAVAILABLE` when there is none left.
    Taken take(long bytes) {
        int wanted = bytes <= SMALL.bytes() ? 0 : units(bytes);
        if (!units.tryAcquire(wanted)) {
            throw new Failure(
                            Code.UNAVAILABLE,
                            "too many large files are being moved at once; try again")
                    .retryAfter(Duration.ofSeconds(1));
        }
        var isTaken = new AtomicBoolean(true);
        return () -> {
            if (isTaken.compareAndSet(true, false)) {
                units.release(wanted);
            }
        };
    }

    private static int units(long bytes) {
        return Math.toIntExact((bytes + UNIT - 1) / UNIT);
    }
}
