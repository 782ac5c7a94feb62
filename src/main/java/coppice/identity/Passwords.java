package coppice.identity;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.base.Secret;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Checks passwords, each for some tenths of a second of a processor: a few threads of its own do that, half as many as there are
/// processors, so that whoever signs in, or guesses, holds up nobody else. What does not fit into their short queue is refused.
public final class Passwords implements AutoCloseable {
    private static final int LEAST = 10;
    private static final int MOST = 200;
    private static final int MADE = 24;
    private static final int WAITING = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ThreadPoolExecutor threads;
    private final PasswordHash nobodys;

    public Passwords() {
        this(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), PasswordHash.ITERATIONS);
    }

    Passwords(int threads, int iterations) {
        this.threads =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        1,
                        TimeUnit.MINUTES,
                        new ArrayBlockingQueue<>(WAITING),
                        Thread.ofPlatform().daemon().name("passwords-", 0).factory());
        this.threads.allowCoreThreadTimeOut(true);
        this.nobodys = PasswordHash.ofNothing(iterations);
    }

    /// Reads a new password. `BAD_REQUEST` if it has not 10 to 200 characters, or control characters.
    public static Secret parse(String text) {
        int length = text.codePointCount(0, text.length());
        if (length < LEAST
                || length > MOST
                || text.codePoints().anyMatch(Character::isISOControl)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the password must have %d to %d characters and no control characters"
                            .formatted(LEAST, MOST));
        }
        return new Secret(text);
    }

    /// A new one that nobody can guess.
    public static Secret random() {
        return new Secret(RandomText.secret(MADE));
    }

    /// Whether that is the password. Without one, it never is, which takes as long to find out. `UNAVAILABLE` when too many others wait.
    boolean isRight(Optional<PasswordHash> stored, Secret typed) {
        if (typed.reveal().length() > MOST * 2) {
            return false;
        }
        try {
            return answer(threads.submit(() -> stored.orElse(nobodys).isOf(typed)));
        } catch (RejectedExecutionException e) {
            throw busy();
        }
    }

    private static boolean answer(Future<Boolean> check) {
        var deadline = Deadline.in(PATIENCE);
        try {
            return check.get(deadline.left().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw busy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw busy();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a password could not be checked", e.getCause());
        } finally {
            check.cancel(false); // one that nobody waits for any more need not begin
        }
    }

    private static Failure busy() {
        return new Failure(Code.UNAVAILABLE, "too many people are signing in; try again")
                .retryAfter(Duration.ofSeconds(5));
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
