package coppice.store;

import coppice.base.Deadline;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// What a [Lookup] has found, told again until any process changes anything in the store: for what nearly every call asks. What a process
/// has changed that was killed in that very moment is seen after five seconds at the latest.
public final class Remembered<T> {
    private static final int MAX = 10_000;
    private static final Duration LONGEST = Duration.ofSeconds(5);

    private final Store store;
    private final Lookup<T> lookup;
    private volatile Known<T> known = new Known<>(Long.MIN_VALUE);

    /// What was found when the store had seen so many changes, or a moment later.
    private record Known<T>(long changes, Deadline end, Map<String, Optional<T>> found) {
        Known(long changes) {
            this(changes, Deadline.in(LONGEST), new ConcurrentHashMap<>());
        }

        boolean holds(long present) {
            return changes == present && !end.isPast() && found.size() < MAX;
        }
    }

    public Remembered(Store store, Lookup<T> lookup) {
        this.store = store;
        this.lookup = lookup;
    }

    /// As [Store#look] by a key of one part.
    public Optional<T> look(String key) {
        var present = present();
        var before = present.found.get(key);
        if (before != null) {
            return before;
        }
        var found = store.look(lookup, key);
        present.found.put(key, found);
        return found;
    }

    /// Taken before the store is asked: what is found there may be newer than the number says, never older.
    private Known<T> present() {
        long changes = store.changes();
        var last = known;
        if (last.holds(changes)) {
            return last;
        }
        var next = new Known<T>(changes);
        known = next;
        return next;
    }
}
