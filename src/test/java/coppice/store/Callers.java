package coppice.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/// Virtual threads that call a store at the same time, as requests do.
final class Callers {
    private final List<Thread> threads = new ArrayList<>();

    <T> FutureTask<T> start(Callable<T> call) {
        var task = new FutureTask<>(call);
        threads.add(Thread.ofVirtual().name("caller").start(task));
        return task;
    }

    /// Until every caller that is not done waits for its answer, so what it asked is in the queue.
    void awaitAllWaiting() {
        var deadline = Deadline.in(Duration.ofSeconds(20));
        while (!threads.stream().allMatch(Callers::waitsOrIsDone)) {
            assertTrue(!deadline.isPast(), "callers did not come to wait: " + threads);
            Thread.onSpinWait();
        }
    }

    private static boolean waitsOrIsDone(Thread thread) {
        return switch (thread.getState()) {
            case TIMED_WAITING, TERMINATED -> true;
            case NEW, RUNNABLE, BLOCKED, WAITING -> false;
        };
    }
}
