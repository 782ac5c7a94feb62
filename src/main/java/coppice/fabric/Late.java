package coppice.fabric;

import coppice.base.Failure;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is to be put in place and could not be yet, the one that has waited longest first. Thread-safe.
///
final class Late<K> {
    private static final Logger LOG = LoggerFactory.getLogger(Late.class);

    private final Function<K, String> name;
    private volatile Optional<Failure> last = Optional.empty();
    private final Set<K> waiting = Collections.synchronizedSet(new LinkedHashSet<>());

    /// @param name what something is called in the log
    Late(Function<K, String> name) {
        this.name = name;
    }

    /// Puts something in place, which is late if it fails. Whoever acts last has the say when two do at once, provided that `act` reads
    /// what is wanted under a lock of its own.
    ///
    /// @return whether it is in place
    boolean put(K what, Runnable act) {
        boolean wasLate =
                waiting.remove(
                        what); // before: it must not take back what another one finds meanwhile
        try {
            act.run();
        } catch (Failure e) {
            waiting.add(what);
            last = Optional.of(e);
            if (!wasLate) {
                LOG.error(
                        "{} is not in place yet, and tried again: {}",
                        name.apply(what),
                        e.getMessage());
            }
            return false;
        }
        if (wasLate) {
            LOG.info("{} is in place now", name.apply(what));
        }
        return true;
    }

    /// Why something was late last.
    Optional<Failure> why() {
        return last;
    }

    /// Nobody wants it any more.
    void forget(K what) {
        waiting.remove(what);
    }

    List<K> waiting() {
        synchronized (waiting) {
            return List.copyOf(waiting);
        }
    }
}
