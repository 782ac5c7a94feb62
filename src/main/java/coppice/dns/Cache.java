package coppice.dns;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// Answers from upstream while their records live. What was not asked for longest goes first. Thread-safe.
final class Cache {
    /// Of an answer, for what is around its bytes: objects, and its place in the map.
    private static final int OVERHEAD = 400;

    private final ResolverSettings.CacheBounds bounds;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Wanted, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    private record Entry(Answer answer, Instant since, Duration lifetime, int bytes) {}

    /// An answer and how long it has been here.
    record Aged(Answer answer, Duration age) {}

    Cache(ResolverSettings.CacheBounds bounds, InstantSource clock) {
        this.bounds = bounds;
        this.clock = clock;
    }

    Optional<Aged> find(Wanted wanted) {
        var now = clock.instant();
        lock.lock();
        try {
            var entry = Optional.ofNullable(entries.get(wanted));
            var aged = entry.map(e -> new Aged(e.answer(), Duration.between(e.since(), now)));
            // A clock that was set back says nothing about how old an answer is.
            var living =
                    aged.filter(
                            a ->
                                    !a.age().isNegative()
                                            && a.age().compareTo(entry.get().lifetime()) < 0);
            if (entry.isPresent() && living.isEmpty()) {
                remove(wanted);
            }
            return living;
        } finally {
            lock.unlock();
        }
    }

    void put(Wanted wanted, Found found) {
        int size = OVERHEAD + wanted.question().name().length() + found.answer().length();
        var entry = new Entry(found.answer(), clock.instant(), found.lifetime(), size);
        if (!found.lifetime().isPositive() || entry.bytes() > bounds.size().bytes()) {
            return;
        }
        lock.lock();
        try {
            remove(wanted);
            entries.put(wanted, entry);
            bytes += entry.bytes();
            while (entries.size() > bounds.entries() || bytes > bounds.size().bytes()) {
                remove(entries.keySet().iterator().next());
            }
        } finally {
            lock.unlock();
        }
    }

    private void remove(Wanted wanted) {
        var removed = entries.remove(wanted);
        if (removed != null) {
            bytes -= removed.bytes();
        }
    }

    /// How many answers there are, those included that have died since they were last asked for.
    int entries() {
        lock.lock();
        try {
            return entries.size();
        } finally {
            lock.unlock();
        }
    }
}
