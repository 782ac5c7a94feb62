package coppice.vm;

import coppice.base.Ticks;
import java.time.Duration;

/// Has the uploads whose time is over ended, every minute, until it is closed.
public final class UploadTimers implements AutoCloseable {
    private static final Duration EVERY = Duration.ofMinutes(1);

    private final Ticks ticks;

    private UploadTimers(Ticks ticks) {
        this.ticks = ticks;
    }

    public static UploadTimers start(Uploads uploads) {
        return new UploadTimers(Ticks.start("upload-timers", EVERY, uploads::expire));
    }

    @Override
    public void close() {
        ticks.close();
    }
}
