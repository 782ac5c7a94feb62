package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// The stream by which a viewer is attached to its session, or was; and whether the viewer has ended. From any thread.
final class Attachment {
    /// A stream that lived longer than this was no failure.
    private static final Duration SHORT = Duration.ofSeconds(1);

    private static final Duration MAX_PAUSE = Duration.ofMillis(250);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

    private final TerminalDescription session;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private TerminalStream stream;
    private boolean isAttached = true;
    private boolean hasExited;
    private Optional<ViewerEnd> end = Optional.empty();
    private long attachedAt = System.nanoTime();
    private Duration pause = FIRST_PAUSE;

    Attachment(TerminalStream stream) {
        this.stream = stream;
        this.session = stream.description();
    }

    TerminalDescription session() {
        return session;
    }

    TerminalStream stream() {
        lock.lock();
        try {
            return stream;
        } finally {
            lock.unlock();
        }
    }

    Optional<ViewerEnd> end() {
        lock.lock();
        try {
            return end;
        } finally {
            lock.unlock();
        }
    }

    void end(ViewerEnd why) {
        lock.lock();
        try {
            end = end.or(() -> Optional.of(why));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        stream().close();
    }

    /// The program has ended: nothing that is typed reaches anybody.
    void exited() {
        lock.lock();
        try {
            hasExited = true;
        } finally {
            lock.unlock();
        }
    }

    boolean hasExited() {
        lock.lock();
        try {
            return hasExited;
        } finally {
            lock.unlock();
        }
    }

    /// The stream has ended, the session has not. How long to wait before the next try: longer each time it did not last.
    Duration cut() {
        lock.lock();
        try {
            isAttached = false;
            boolean wasShort = System.nanoTime() - attachedAt < SHORT.toNanos();
            pause = wasShort ? pause.multipliedBy(2) : FIRST_PAUSE;
            pause = pause.compareTo(MAX_PAUSE) < 0 ? pause : MAX_PAUSE;
            return pause;
        } finally {
            lock.unlock();
        }
    }

    void attach(TerminalStream next) {
        lock.lock();
        try {
            stream = next;
            isAttached = true;
            attachedAt = System.nanoTime();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (end().isPresent()) {
            next.close();
        }
    }

    /// The stream that comes after `cut`; empty if the viewer has ended first.
    Optional<TerminalStream> after(TerminalStream cut, Deadline deadline) {
        return await(() -> isAttached && stream != cut, deadline);
    }

    /// The stream, when it is attached; empty if the viewer has ended first.
    Optional<TerminalStream> attached(Deadline deadline) {
        return await(() -> isAttached, deadline);
    }

    private Optional<TerminalStream> await(BooleanSupplier isThere, Deadline deadline) {
        lock.lock();
        try {
            while (end.isEmpty() && !isThere.getAsBoolean()) {
                if (deadline.isPast()) {
                    throw new Failure(
                            Code.UNAVAILABLE,
                            "terminal %d cannot be reached; try again"
                                    .formatted(session.session()));
                }
                await(deadline.left());
            }
            return end.isPresent() ? Optional.empty() : Optional.of(stream);
        } finally {
            lock.unlock();
        }
    }

    /// Waits so long, or until something has changed.
    void rest(Duration time) {
        lock.lock();
        try {
            if (end.isEmpty()) {
                await(time);
            }
        } finally {
            lock.unlock();
        }
    }

    private void await(Duration time) {
        try {
            changed.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for a terminal", e);
        }
    }
}
