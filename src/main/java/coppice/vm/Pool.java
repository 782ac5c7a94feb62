package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Machines of the snapshots that were used lately, made ahead of time: a VM that gets one need not wait for a QEMU. They are made one at a
/// time and only while nothing else is starting, and given up as soon as their memory is needed. Thread-safe.
final class Pool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Pool.class);
    private static final Duration ROUND = Duration.ofSeconds(2);
    private static final Duration MAKE = Duration.ofSeconds(60);

    /// After a snapshot of which none could be made, the pool rests: whatever is wrong with it is not mended by trying.
    private static final Duration REST = Duration.ofSeconds(30);

    private final VmContext context;
    private final Creation creation;
    private final PoolLimits limits;
    private final Demand demand;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Warm> ready = new ArrayList<>();
    private final Thread thread;
    private volatile boolean isClosing;

    Pool(VmContext context, Creation creation, PoolLimits limits) {
        this.context = context;
        this.creation = creation;
        this.limits = limits;
        this.demand = new Demand(limits.window());
        this.thread = Thread.ofVirtual().name("pool").unstarted(this::run);
    }

    void start() {
        if (limits.size() > 0) {
            context.node().relieveBy(this::giveUp);
            thread.start();
        }
    }

    /// A machine of a snapshot, if one is ready. Each is handed out once; whoever has it makes it a VM or ends it.
    Optional<Warm> take(SnapshotId snapshot) {
        lock.lock();
        try {
            demand.note(snapshot, context.clock().instant());
            changed.signal();
            var found =
                    ready.stream()
                            .filter(warm -> warm.vm().origin().snapshot().equals(snapshot))
                            .filter(Warm::isAlive)
                            .findFirst();
            found.ifPresent(ready::remove);
            return found;
        } finally {
            lock.unlock();
        }
    }

    /// Ends a machine that is not to become a VM after all.
    void end(Warm warm) {
        context.machines().delete(warm.vm().id());
        context.node().releaseMemory(warm.vm().id().text());
        context.node().releaseUser(warm.vm().hardware().user());
    }

    /// Ends all that are ready: their memory is needed.
    ///
    /// @return whether there were any
    private boolean giveUp() {
        var given = takeAll();
        given.forEach(this::end);
        return !given.isEmpty();
    }

    private List<Warm> takeAll() {
        lock.lock();
        try {
            var all = List.copyOf(ready);
            ready.clear();
            return all;
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (!isClosing) {
            try {
                if (context.node().isShortOfMemory()) {
                    giveUp();
                }
                surplus().forEach(this::end);
                var missing = missing();
                if (missing.isEmpty() || !make(missing.get())) {
                    rest(ROUND);
                }
            } catch (RuntimeException e) {
                LOG.warn("nothing could be made ready: {}", e.getMessage());
                rest(REST);
            }
        }
    }

    private void rest(Duration time) {
        lock.lock();
        try {
            if (!isClosing) {
                changed.awaitNanos(time.toNanos());
            }
        } catch (InterruptedException e) {
            isClosing = true;
        } finally {
            lock.unlock();
        }
    }

    /// What is ready and not wanted any more, because it was long not used, is deleted, or has ended.
    private List<Warm> surplus() {
        lock.lock();
        try {
            var wanted = wanted();
            var surplus = new ArrayList<Warm>();
            for (var warm : ready) {
                var snapshot = warm.vm().origin().snapshot();
                int places = wanted.getOrDefault(snapshot, 0);
                if (places < 1 || !warm.isAlive() || !creation.exists(snapshot)) {
                    surplus.add(warm);
                } else {
                    wanted.put(snapshot, places - 1);
                }
            }
            ready.removeAll(surplus);
            return surplus;
        } finally {
            lock.unlock();
        }
    }

    private Map<SnapshotId, Integer> wanted() {
        return new HashMap<>(demand.wanted(limits.size(), context.clock().instant()));
    }

    private Optional<SnapshotId> missing() {
        lock.lock();
        try {
            var wanted = wanted();
            ready.forEach(warm -> wanted.merge(warm.vm().origin().snapshot(), -1, Integer::sum));
            return wanted.entrySet().stream()
                    .filter(e -> e.getValue() > 0 && creation.exists(e.getKey()))
                    .map(Map.Entry::getKey)
                    .findFirst();
        } finally {
            lock.unlock();
        }
    }

    /// Makes one, unless something else is starting or the host is short of memory.
    private boolean make(SnapshotId snapshot) {
        var turn = context.node().idleTurn();
        if (turn.isEmpty() || !context.node().hasSpareMemory()) {
            return false;
        }
        try (Node.Turn _ = turn.get();
                var _ = context.node().takeRoom(Creation.FIRST_WRITES)) {
            var warm = creation.warm(snapshot, Deadline.in(MAKE));
            lock.lock();
            try {
                ready.add(warm);
                LOG.info("{} is ready", warm.vm().id());
            } finally {
                lock.unlock();
            }
            return true;
        } catch (Failure e) {
            LOG.warn("{} could not be made ready: {}", snapshot, e.getMessage());
            rest(REST);
            return false;
        }
    }

    /// Ends what is ready. What was handed out is a VM.
    @Override
    public void close() {
        isClosing = true;
        thread.interrupt();
        try {
            if (thread.getState() != Thread.State.NEW) {
                thread.join(MAKE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        giveUp();
    }
}
