package coppice.store;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Runs long database work on a platform thread made for it, so that the caller may be a virtual thread.
final class OwnThread {
    private OwnThread() {}

    static <T> T call(String name, Deadline deadline, Callable<T> work) {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name(name).start(task);
        try {
            return task.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw switch (Sqlite.explain(e.getCause())) {
                case RuntimeException cause -> cause;
                case Error cause -> throw cause;
                case IOException cause ->
                        new Failure(
                                Code.UNAVAILABLE, name + " failed on the disk: " + cause, cause);
                case Throwable cause -> new IllegalStateException(cause);
            };
        } catch (TimeoutException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    name + " took too long; try again when the disk is less busy",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, name + " was interrupted", e);
        }
    }
}
