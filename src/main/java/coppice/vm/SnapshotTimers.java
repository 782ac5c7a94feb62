package coppice.vm;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has the snapshots whose time is over deleted, every few seconds, until it is closed. When a snapshot's time is over is for
/// [Snapshot#isDue] to say.
public final class SnapshotTimers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotTimers.class);
    private static final Duration EVERY = Duration.ofSeconds(2);
    private static final Duration FINISH = Duration.ofSeconds(10);

    private final Snapshots snapshots;
    private final ScheduledExecutorService ticks =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("snapshot-timers").factory());

    private SnapshotTimers(Snapshots snapshots) {
        this.snapshots = snapshots;
    }

    public static SnapshotTimers start(Snapshots snapshots) {
        var timers = new SnapshotTimers(snapshots);
        timers.ticks.scheduleWithFixedDelay(
                timers::tick, EVERY.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
        return timers;
    }

    /// What goes wrong once is tried again at the next tick: an exception would end all that follow.
    private void tick() {
        try {
            snapshots.expire();
        } catch (RuntimeException e) {
            LOG.warn("the timers of snapshots are not looked at: {}", e.getMessage(), e);
        }
    }

    /// Waits for the end of what is being deleted.
    @Override
    public void close() {
        ticks.shutdown();
        try {
            if (!ticks.awaitTermination(FINISH.toSeconds(), TimeUnit.SECONDS)) {
                ticks.shutdownNow();
            }
        } catch (InterruptedException e) {
            ticks.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
