package coppice.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Whether the server is stopping, and who wants to hear of it.
final class Draining {
    private final Set<Runnable> listeners = new HashSet<>();
    private boolean begun;

    synchronized boolean hasBegun() {
        return begun;
    }

    void begin() {
        for (var listener : takeAll()) {
            listener.run();
        }
    }

    /// At once, when it has begun.
    void tell(Runnable listener) {
        if (add(listener)) {
            return;
        }
        listener.run();
    }

    synchronized void forget(Runnable listener) {
        listeners.remove(listener);
    }

    private synchronized List<Runnable> takeAll() {
        begun = true;
        var all = new ArrayList<>(listeners);
        listeners.clear();
        return all;
    }

    private synchronized boolean add(Runnable listener) {
        return !begun && listeners.add(listener);
    }
}
