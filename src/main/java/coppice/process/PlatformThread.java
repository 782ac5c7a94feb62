package coppice.process;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// A platform thread of one's own, for native calls and for what the kernel ties to a thread. Closing it waits for the end of what it
/// is doing, and ends the thread.
public final class PlatformThread implements AutoCloseable {
    private final ExecutorService thread;

    public PlatformThread(String name) {
        thread =
                Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().name(name).daemon().factory());
    }

    /// Something that a thread is doing.
    public static final class Task<T> {
        private final Future<T> future;

        private Task(Future<T> future) {
            this.future = future;
        }

        /// Waits for what comes of it. What it throws is thrown here.
        public T await() {
            try {
                return future.get();
            } catch (ExecutionException e) {
                switch (e.getCause()) {
                    case RuntimeException cause -> throw cause;
                    case Error cause -> throw cause;
                    case Throwable cause ->
                            throw new Failure(
                                    Code.UNAVAILABLE, String.valueOf(cause.getMessage()), cause);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Failure(
                        Code.UNAVAILABLE, "interrupted while waiting for a native call", e);
            }
        }
    }

    /// Does something on the thread, after all that it was told before, and does not wait for it.
    public <T> Task<T> start(Callable<T> work) {
        return new Task<>(thread.submit(work));
    }

    /// Does something on the thread and waits for what comes of it. What it throws is thrown here.
    public <T> T call(Callable<T> work) {
        return start(work).await();
    }

    /// As [#call], for what has no result.
    public void run(Runnable work) {
        call(Executors.callable(work));
    }

    @Override
    public void close() {
        thread.close();
    }
}
