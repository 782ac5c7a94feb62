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
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Machines of the snapshots that were used lately, made ahead of time: a VM that gets one need not wait for a QEMU. They are made one at a
/// time and only while nothing else is starting, and given up as soon as their memory is needed. Thread-safe.
final class Pool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Pool.class);
    private static final Duration ROUND = Duration.ofSeconds(2);
    private static final Duration MAKE = Duration.ofSeconds(60);

    private static final Duration BREAK_OFF = Duration.ofSeconds(5);
    private static final Duration NAP = Duration.ofMillis(10);

    /// After a snapshot of which none could be made, the pool rests: whatever is wrong with it is not mended by trying.
    private static final Duration REST = Duration.ofSeconds(30);

    private final VmContext context;
    private final Creation creation;
    private final PoolLimits limits;
    private final Demand demand;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Warm> ready = new ArrayList<>();
    private final ReentrantLock ending = new ReentrantLock();
    private final Thread thread;
    private volatile Deadline quiet = Deadline.in(Duration.ZERO);
    private volatile Optional<Vm> making = Optional.empty();
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
    void end(Vm vm) {
        context.machines().delete(vm.id());
        context.node().releaseMemory(vm.id().text());
        context.node().releaseUser(vm.hardware().user());
    }

    /// Ends all that are ready and the one that is being made, and makes none for a while: their memory is needed.
    ///
    /// @return that it is worth a second try: even when there was nothing, something may just have been given up
    private boolean giveUp() {
        quiet = Deadline.in(REST); // before the look at what is being made, which looks at this
        breakOff();
        ending.lock();
        try {
            takeAll().forEach(warm -> end(warm.vm()));
        } finally {
            ending.unlock();
        }
        return true;
    }

    private void breakOff() {
        var begun = making;
        var deadline = Deadline.in(BREAK_OFF);
        while (begun.isPresent() && making.equals(begun) && !deadline.isPast()) {
            context.machines().sweep(begun.get().id()); // whoever makes it cleans up
            LockSupport.parkNanos(NAP.toNanos());
        }
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
                endSurplus();
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

    private void endSurplus() {
        ending.lock();
        try {
            surplus().forEach(warm -> end(warm.vm()));
        } finally {
            ending.unlock();
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
        if (turn.isEmpty() || !context.node().hasSpareMemory() || !quiet.isPast()) {
            turn.ifPresent(Node.Turn::close);
            return false;
        }
        try (Node.Turn _ = turn.get();
                var _ = context.node().takeRoom(Creation.FIRST_WRITES)) {
            var planned = creation.plan(snapshot);
            making = Optional.of(planned);
            if (!quiet.isPast()) {
                context.node().releaseUser(planned.hardware().user());
                return false;
            }
            add(creation.warm(planned, Deadline.in(MAKE)));
            return true;
        } catch (Failure e) {
            LOG.warn("{} could not be made ready: {}", snapshot, e.getMessage());
            quiet = Deadline.in(REST);
            return false;
        } finally {
            making = Optional.empty();
        }
    }

    private void add(Warm warm) {
        lock.lock();
        try {
            ready.add(warm);
            LOG.info("{} is ready", warm.vm().id());
        } finally {
            lock.unlock();
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
