package coppice.vm;

import coppice.base.Ticks;
import java.time.Duration;

/// Has the snapshots whose time is over deleted, every few seconds, until it is closed. When a snapshot's time is over is for
/// [Snapshot#isDue] to say.
public final class SnapshotTimers implements AutoCloseable {
    private static final Duration EVERY = Duration.ofSeconds(2);

    private final Ticks ticks;

    private SnapshotTimers(Ticks ticks) {
        this.ticks = ticks;
    }

    public static SnapshotTimers start(Snapshots snapshots) {
        return new SnapshotTimers(Ticks.start("snapshot-timers", EVERY, snapshots::expire));
    }

    /// Waits for the end of what is being deleted.
    @Override
    public void close() {
        ticks.close();
    }
}
