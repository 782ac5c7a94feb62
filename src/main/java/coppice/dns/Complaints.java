package coppice.dns;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Says in the log what went wrong, at most once a second: clients can make things go wrong as often as they like.
final class Complaints {
    private static final Logger LOG = LoggerFactory.getLogger(Complaints.class);
    private static final long PAUSE = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanoTime;
    private final BiConsumer<String, Throwable> log;
    private final AtomicLong next;
    private final AtomicLong unsaid = new AtomicLong();

    Complaints() {
        this(System::nanoTime, LOG::warn);
    }

    Complaints(LongSupplier nanoTime, BiConsumer<String, Throwable> log) {
        this.nanoTime = nanoTime;
        this.log = log;
        this.next = new AtomicLong(nanoTime.getAsLong());
    }

    void add(String what, Throwable cause) {
        long due = next.get();
        long now = nanoTime.getAsLong();
        if (now - due < 0 || !next.compareAndSet(due, now + PAUSE)) {
            unsaid.incrementAndGet();
            return;
        }
        long before = unsaid.getAndSet(0);
        log.accept(before == 0 ? what : "%s; %d before it".formatted(what, before), cause);
    }
}
