package coppice.dns;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Says in the log what went wrong, at most once a second: clients can make things go wrong as often as they like.
final class Complaints {
    private static final Logger LOG = LoggerFactory.getLogger(Complaints.class);
    private static final long PAUSE = Duration.ofSeconds(1).toNanos();

    private final AtomicLong next = new AtomicLong(System.nanoTime());
    private final AtomicLong unsaid = new AtomicLong();

    void add(String what, Throwable cause) {
        long due = next.get();
        long now = System.nanoTime();
        if (now - due < 0 || !next.compareAndSet(due, now + PAUSE)) {
            unsaid.incrementAndGet();
            return;
        }
        LOG.warn("{} ({} more were left out before)", what, unsaid.getAndSet(0), cause);
    }
}
