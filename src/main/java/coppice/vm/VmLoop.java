package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one thread that changes a VM. Others put work into its bounded inbox and wait for the answer, each until its own deadline; what a
/// caller stopped waiting for is still done.
final class VmLoop {
    private static final Logger LOG = LoggerFactory.getLogger(VmLoop.class);
    private static final int INBOX = 256;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final VmId vm;
    private final BlockingQueue<FutureTask<?>> inbox = new ArrayBlockingQueue<>(INBOX);
    private final Thread thread;
    private volatile boolean isGone;
    private volatile boolean isBusy;
    private volatile boolean isClosing;
    private volatile boolean isDrained;

    VmLoop(VmId vm) {
        this.vm = vm;
        this.thread = Thread.ofVirtual().name(vm.text()).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /// Has the loop do something and waits for what comes of it.
    <T> T ask(Callable<T> work, Deadline deadline) {
        return await(submit(work), deadline);
    }

    /// Has the loop do something.
    <T> FutureTask<T> submit(Callable<T> work) {
        var task =
                new FutureTask<>(
                        () -> {
                            if (isGone) {
                                throw absent();
                            }
                            return work.call();
                        });
        if (isGone) {
            throw absent();
        }
        if (!inbox.offer(task)) {
            throw new Failure(
                    Code.RATE_LIMITED,
                    "too many requests are waiting for %s; try again".formatted(vm));
        }
        if (isDrained && inbox.remove(task)) {
            throw isGone
                    ? absent()
                    : stopping(); // it left between the two looks, and nobody will do this
        }
        return task;
    }

    /// Has the loop do something, without waiting for it.
    void tell(Runnable work) {
        var task =
                new FutureTask<>(
                        () -> {
                            if (!isGone) {
                                runOrLog(work);
                            }
                        },
                        true);
        try {
            if (!inbox.offer(task, PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                LOG.error("{}: its inbox stays full; something that should be done is not", vm);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// From the loop itself: does something after what waits already, or at once when no more can wait.
    void postpone(Runnable work) {
        var task = new FutureTask<>(() -> runOrLog(isGone ? () -> {} : work), true);
        if (!inbox.offer(task)) {
            runOrLog(work);
        }
    }

    /// Whether the loop is in the middle of something.
    boolean isBusy() {
        return isBusy;
    }

    boolean isGone() {
        return isGone;
    }

    /// Fails if the VM does not exist any more.
    void requireThere() {
        if (isGone) {
            throw absent();
        }
    }

    /// The VM does not exist any more: whatever is asked from now on is told so.
    void leave() {
        isGone = true;
    }

    private void runOrLog(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{}: nobody waits for this: {}", vm, e.getMessage(), e);
        }
    }

    /// Waits for what comes of something that the loop was given.
    <T> T await(FutureTask<T> task, Deadline deadline) {
        try {
            return task.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case Throwable cause -> throw new IllegalStateException(cause);
            }
        } catch (TimeoutException e) {
            throw new Failure(
                    Code.VM_START_TIMEOUT,
                    "%s did not get there in time; look at its state".formatted(vm),
                    e);
        } catch (CancellationException e) {
            throw stopping();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(
                    Code.UNAVAILABLE, "interrupted while waiting for %s".formatted(vm), e);
        }
    }

    private static Failure stopping() {
        return new Failure(Code.UNAVAILABLE, "the server stops; ask the next one");
    }

    private Failure absent() {
        return new Failure(Code.NOT_FOUND, "no VM " + vm);
    }

    private void run() {
        try {
            while (!isGone && !isClosing) {
                work(inbox.take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the server stops
        }
        // Set before the last look: whoever comes after that look sees it and takes its task back.
        isDrained = true;
        for (var last = inbox.poll(); last != null; last = inbox.poll()) {
            if (isGone) {
                work(last);
            } else {
                last.cancel(false);
            }
        }
    }

    private void work(FutureTask<?> task) {
        isBusy = true;
        task.run();
        isBusy = false;
    }

    /// Takes nothing more: what is being done is finished, what waits is refused.
    void finish() {
        isClosing = true;
        inbox.offer(new FutureTask<>(() -> {}, true)); // wakes the thread if it waits for work
    }

    /// After [#finish]: waits for the end of what is being done, and interrupts it at the deadline.
    void awaitEnd(Deadline deadline) {
        try {
            if (!thread.join(deadline.left())) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
