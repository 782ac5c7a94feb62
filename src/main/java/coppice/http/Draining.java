package coppice.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the server is stopping, and who wants to hear of it.
final class Draining {
    private static final Logger LOG = LoggerFactory.getLogger(Draining.class);

    private final Set<Runnable> listeners = new HashSet<>();
    private boolean begun;

    synchronized boolean hasBegun() {
        return begun;
    }

    /// Tells everybody; the fault of one does not keep it from the others.
    void begin() {
        for (var listener : takeAll()) {
            try {
                listener.run();
            } catch (RuntimeException e) {
                LOG.error("a listener met a fault of ours while the server was stopping", e);
            }
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
