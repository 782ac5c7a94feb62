package coppice.base;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has something looked at again and again, until it is closed.
public final class Ticks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Ticks.class);
    private static final Duration FINISH = Duration.ofSeconds(10);

    private final String name;
    private final Runnable look;
    private final ScheduledExecutorService ticks;

    private Ticks(String name, Runnable look) {
        this.name = name;
        this.look = look;
        this.ticks =
                Executors.newSingleThreadScheduledExecutor(
                        Thread.ofPlatform().daemon().name(name).factory());
    }

    /// @param name of the thread
    /// @param every how long after the end of a look the next one begins
    public static Ticks start(String name, Duration every, Runnable look) {
        var ticks = new Ticks(name, look);
        ticks.ticks.scheduleWithFixedDelay(
                ticks::tick, every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
        return ticks;
    }

    /// What goes wrong once is tried again at the next tick: an exception would end all that follow.
    private void tick() {
        try {
            look.run();
        } catch (RuntimeException e) {
            LOG.warn("{} are not looked at: {}", name, e.getMessage(), e);
        }
    }

    /// Waits for the end of a look that is under way.
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
