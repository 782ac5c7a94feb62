package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/// Writes that several VMs run, all of them in one instant, when the last of them does: a server that dies before that finds none of them
/// running, and one that dies after it all.
final class Together implements Consumer<Vm> {
    private static final Duration POLL = Duration.ofMillis(20);

    private final VmRecords records;
    private final int count;
    private final Deadline deadline;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Vm> arrived = new ArrayList<>();
    private final CountDownLatch written = new CountDownLatch(1);
    private volatile Optional<RuntimeException> failure = Optional.empty();

    Together(VmRecords records, int count, Deadline deadline) {
        this.records = records;
        this.count = count;
        this.deadline = deadline;
    }

    /// One of them will not run: then none will.
    void fail(RuntimeException why) {
        failure = Optional.of(why);
    }

    /// Returns when the store says of all that they run, and fails when one of them does not come to that.
    @Override
    public void accept(Vm vm) {
        if (isLast(vm)) {
            requireTheOthers();
            write();
        }
        try {
            while (!written.await(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                requireTheOthers();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while copying a VM", e);
        }
    }

    private boolean isLast(Vm vm) {
        lock.lock();
        try {
            arrived.add(vm);
            return arrived.size() == count;
        } finally {
            lock.unlock();
        }
    }

    private void write() {
        try {
            records.changeProgress(List.copyOf(arrived));
            written.countDown();
        } catch (RuntimeException e) {
            fail(e);
            throw e;
        }
    }

    private void requireTheOthers() {
        failure.ifPresent(
                e -> {
                    throw new Failure(
                            Code.UNAVAILABLE, "another copy failed: " + e.getMessage(), e);
                });
        if (deadline.isPast()) {
            var late = new Failure(Code.VM_START_TIMEOUT, "another copy did not get ready in time");
            fail(late);
            throw late;
        }
    }
}
