package coppice.background;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Between the thread that works and the one whose caller waits: who of them has the answer in the end.
final class Deferral {
    private final boolean isResumable;
    private Optional<Long> receivedAt = Optional.empty();
    private Optional<Resumption> resumption = Optional.empty();
    private Optional<HttpResponse> answer = Optional.empty();
    private boolean isLeft;
    private boolean isAbandoned;

    Deferral(boolean isResumable) {
        this.isResumable = isResumable;
    }

    synchronized void received() {
        if (receivedAt.isEmpty()) {
            receivedAt = Optional.of(System.nanoTime());
            notifyAll();
        }
    }

    synchronized void resumable(Resumption how) {
        resumption = Optional.of(how);
        notifyAll();
    }

    synchronized Optional<Resumption> resumption() {
        return resumption;
    }

    /// Gives the answer to who waits; false if nobody does any more.
    synchronized boolean answer(HttpResponse made) {
        if (isLeft) {
            return false;
        }
        answer = Optional.of(made);
        notifyAll();
        return true;
    }

    /// Whether nobody will ever ask for the answer.
    synchronized boolean isAbandoned() {
        return isAbandoned;
    }

    /// The answer, if it comes within this time of when the body was there.
    synchronized Optional<HttpResponse> await(Duration after) {
        while (answer.isEmpty()) {
            boolean isReady = receivedAt.isPresent() && resumption.isPresent() == isResumable;
            if (!isReady) {
                rest(() -> 0L);
            } else {
                long left = after.toNanos() - (System.nanoTime() - receivedAt.get());
                if (left <= 0) {
                    return Optional.empty();
                }
                rest(() -> TimeUnit.NANOSECONDS.toMillis(left) + 1);
            }
        }
        return answer;
    }

    /// The answer, whenever it comes.
    synchronized HttpResponse await() {
        while (answer.isEmpty()) {
            rest(() -> 0L);
        }
        return answer.get();
    }

    /// Waits no longer; the answer, if it came before that.
    synchronized Optional<HttpResponse> leave() {
        isLeft = answer.isEmpty();
        return answer;
    }

    private void rest(Supplier<Long> millis) {
        try {
            wait(millis.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            isLeft = true;
            isAbandoned = true;
            throw new Failure(Code.UNAVAILABLE, "the server is stopping; try again", e);
        }
    }
}
