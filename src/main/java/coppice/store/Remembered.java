package coppice.store;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// What a [Lookup] has found, told again until this process changes anything in the store. For rows that no other process changes.
public final class Remembered<T> {
    private static final int MAX = 10_000;

    private final Store store;
    private final Lookup<T> lookup;
    private volatile Known<T> known = new Known<>(-1);

    /// What was found when the store had seen so many changes, or a moment later.
    private record Known<T>(long changes, Map<String, Optional<T>> found) {
        Known(long changes) {
            this(changes, new ConcurrentHashMap<>());
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
        if (last.changes == changes && last.found.size() < MAX) {
            return last;
        }
        var next = new Known<T>(changes);
        known = next;
        return next;
    }
}
