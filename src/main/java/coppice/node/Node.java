package coppice.node;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// This host's promises to VMs. Thread-safe; its lock is held for arithmetic only.
public final class Node {
    /// Users are handed out from a range of this length.
    private static final int USERS = 60_000;

    /// So many times the reserve must be free before memory is used for what nobody has asked for.
    private static final int SPARE = 2;

    private final Capacity capacity;
    private final Supplier<Size> freeDisk;
    private final Size hostMemory;
    private final Semaphore starts;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Size> promised = new HashMap<>();
    private final TreeSet<Integer> users = new TreeSet<>();
    private int lastUser;
    private long taken;
    private volatile BooleanSupplier relief = () -> false;

    public Node(Capacity capacity, Supplier<Size> freeDisk) {
        this.capacity = capacity;
        this.freeDisk = freeDisk;
        this.hostMemory = memory("MemTotal");
        this.lastUser = capacity.firstUser() - 1;
        this.starts = new Semaphore(capacity.startsAtOnce(), true);
    }

    /// Promises memory to a VM that is about to run, or more of it to one that runs. What is held only because nobody needed its memory
    /// is given up first.
    public void promiseMemory(String vm, Size memory) {
        try {
            promise(vm, memory);
        } catch (Failure e) {
            if (!relief.getAsBoolean()) {
                throw e;
            }
            promise(vm, memory);
        }
    }

    /// As [#promiseMemory], for a machine that somebody may use some day: nothing is given up for it.
    public void promiseSpareMemory(String vm, Size memory) {
        promise(vm, memory);
    }

    private void promise(String vm, Size memory) {
        var limit = (long) (hostMemory.bytes() * capacity.memoryOvercommit());
        var free = memory("MemAvailable");
        lock.lock();
        try {
            long others =
                    promised.entrySet().stream()
                            .filter(e -> !e.getKey().equals(vm))
                            .mapToLong(e -> e.getValue().bytes())
                            .sum();
            if (others + memory.bytes() > limit) {
                throw new Failure(
                        Code.CONFLICT,
                        ("no capacity: this host has promised %d of at most %d MiB of guest memory;"
                                        + " pause or delete a VM, or raise node.memoryOvercommit")
                                .formatted(others >> 20, limit >> 20));
            }
            if (!promised.containsKey(vm) && free.compareTo(capacity.memoryReserve()) < 0) {
                throw new Failure(
                        Code.CONFLICT,
                        "no capacity: this host has only %s of free memory; pause or delete a VM"
                                .formatted(free));
            }
            promised.put(vm, memory);
        } finally {
            lock.unlock();
        }
    }

    /// Names what gives memory back when there is too little.
    ///
    /// @param relief says whether it gave any
    public void relieveBy(BooleanSupplier relief) {
        this.relief = relief;
    }

    /// Whether less memory is free than must be.
    public boolean isShortOfMemory() {
        return memory("MemAvailable").compareTo(capacity.memoryReserve()) < 0;
    }

    /// Whether memory may be used for what nobody has asked for yet.
    public boolean hasSpareMemory() {
        return memory("MemAvailable").bytes() > SPARE * capacity.memoryReserve().bytes();
    }

    /// Counts the memory of a VM that was running when the server started.
    public void keepMemory(String vm, Size memory) {
        lock.lock();
        try {
            promised.put(vm, memory);
        } finally {
            lock.unlock();
        }
    }

    /// The VM does not run any more.
    public void releaseMemory(String vm) {
        lock.lock();
        try {
            promised.remove(vm);
        } finally {
            lock.unlock();
        }
    }

    /// Takes room on the data volume for what is about to be written there, and refuses it when it would leave less than the reserve. What
    /// others have taken and not yet given back counts as written.
    public Room takeRoom(Size size) {
        lock.lock();
        try {
            var free = freeDisk.get();
            var wanted = size.plus(new Size(taken)).plus(capacity.diskReserve());
            if (free.compareTo(wanted) < 0) {
                throw new Failure(
                        Code.CONFLICT,
                        "no capacity: the data volume has only %s of free space and this needs up to %s; delete VMs or snapshots"
                                .formatted(free, size));
            }
            taken += size.bytes();
        } finally {
            lock.unlock();
        }
        return () -> give(size);
    }

    private void give(Size size) {
        lock.lock();
        try {
            taken -= size.bytes();
        } finally {
            lock.unlock();
        }
    }

    /// Room on the data volume, given back by closing it: by then it has been written to, or is not needed.
    public interface Room extends AutoCloseable {
        @Override
        void close();
    }

    /// A user number that no VM has, and that none had for as long as possible: what is made of it should not meet its last holder's
    /// traces.
    public int takeUser() {
        lock.lock();
        try {
            for (int i = 0; i < USERS; i++) {
                lastUser = capacity.firstUser() + (lastUser - capacity.firstUser() + 1) % USERS;
                if (users.add(lastUser)) {
                    return lastUser;
                }
            }
            throw new Failure(
                    Code.CONFLICT, "no capacity: this host holds %d VMs".formatted(USERS));
        } finally {
            lock.unlock();
        }
    }

    /// Marks the user of a VM that was there when the server started.
    public void keepUser(int user) {
        lock.lock();
        try {
            users.add(user);
            lastUser = Math.max(lastUser, user);
        } finally {
            lock.unlock();
        }
    }

    /// The place of a user number among all there are, from 1 on.
    public int slot(int user) {
        return Math.floorMod(user - capacity.firstUser(), USERS) + 1;
    }

    public void releaseUser(int user) {
        lock.lock();
        try {
            users.remove(user);
        } finally {
            lock.unlock();
        }
    }

    /// Waits for a turn to start a VM.
    public Turn awaitTurn(Deadline deadline) {
        try {
            if (!starts.tryAcquire(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                throw new Failure(Code.VM_START_TIMEOUT, "too many VMs are starting; try again");
            }
            return starts::release;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting to start a VM", e);
        }
    }

    /// A turn, if there is one at this moment.
    public Optional<Turn> freeTurn() {
        return starts.tryAcquire() ? Optional.of(starts::release) : Optional.empty();
    }

    /// A turn, if nothing is starting.
    public Optional<Turn> idleTurn() {
        boolean isIdle =
                starts.availablePermits() == capacity.startsAtOnce() && starts.tryAcquire();
        return isIdle ? Optional.of(starts::release) : Optional.empty();
    }

    /// A turn to start a VM, given back by closing it.
    public interface Turn extends AutoCloseable {
        @Override
        void close();
    }

    private static Size memory(String field) {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith(field + ":"))
                    .map(line -> new Size(Long.parseLong(line.replaceAll("\\D", "")) << 10))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no " + field));
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "/proc/meminfo cannot be read", e);
        }
    }
}
