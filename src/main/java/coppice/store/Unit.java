package coppice.store;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/// One piece of work on its way from the caller, who waits, to the thread that runs it.
///
/// waiting -> running -> answered, or waiting -> abandoned when the caller's time is over before the work began: then it never
/// runs. Outcome and answer are two steps, because the outcome of a write counts only once its group is committed.
final class Unit<T> {
    private enum Stage {
        WAITING,
        RUNNING,
        ABANDONED
    }

    private final Function<Handle, T> work;
    private final Deadline deadline;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
    private final CountDownLatch answered = new CountDownLatch(1);
    // Written by the running thread before it counts down, read by the caller after it.
    private Optional<T> result = Optional.empty();
    private Optional<Throwable> problem = Optional.empty();

    Unit(Function<Handle, T> work, Deadline deadline) {
        this.work = work;
        this.deadline = deadline;
    }

    /// The runner takes the work on; false if the caller has given up.
    boolean begin() {
        return stage.compareAndSet(Stage.WAITING, Stage.RUNNING);
    }

    /// Runs the work and keeps its outcome; false if it threw.
    boolean run(Jdbi jdbi) {
        try (var handle = jdbi.open()) {
            result =
                    Optional.of(Objects.requireNonNull(work.apply(handle), "a unit returned null"));
        } catch (Throwable e) {
            problem = Optional.of(Sqlite.explain(e));
        }
        return problem.isEmpty();
    }

    /// What the work threw.
    Optional<Throwable> problem() {
        return problem;
    }

    /// Hands the outcome to the caller.
    void answer() {
        answered.countDown();
    }

    /// Hands `why` to the caller, whatever the outcome was.
    void fail(Throwable why) {
        problem = Optional.of(why);
        answered.countDown();
    }

    T await() {
        try {
            if (!answered.await(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                throw gaveUp("the store did not answer in time");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw gaveUp("interrupted while waiting for the store");
        }
        if (problem.isPresent()) {
            throw switch (problem.get()) {
                case RuntimeException e -> e;
                case Error e -> throw e;
                case Throwable e -> new IllegalStateException(e);
            };
        }
        return result.orElseThrow();
    }

    private Failure gaveUp(String why) {
        return new Failure(
                Code.UNAVAILABLE,
                stage.compareAndSet(Stage.WAITING, Stage.ABANDONED)
                        ? why + "; nothing was done, try again"
                        : why + "; it may still be done, look before you try again");
    }
}
