package coppice.qemu;

import coppice.base.Deadline;
import coppice.base.Failure;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has a machine go on that QEMU stopped because the host's disk is full. QEMU then writes again what it could not write, and stops again
/// while there is no room, so the guest waits for room and never sees an error. A machine that was frozen on purpose stays so.
final class Stalls {
    private static final Logger LOG = LoggerFactory.getLogger(Stalls.class);
    private static final Duration CONTROL = Duration.ofSeconds(5);
    private static final Duration SILENCE = Duration.ofMinutes(1);

    private final String name;
    private final Predicate<Deadline> isStalled;
    private final Consumer<Deadline> goOn;
    private final Runnable pause;
    private final ReentrantLock deciding = new ReentrantLock();
    private final AtomicBoolean isWaiting = new AtomicBoolean();
    private boolean isHeld;
    private Deadline silence = Deadline.in(Duration.ZERO);

    /// @param isStalled whether QEMU stopped the machine for a failed write
    /// @param pause passes the time before a try; fails when there is nothing more to try
    Stalls(String name, Predicate<Deadline> isStalled, Consumer<Deadline> goOn, Runnable pause) {
        this.name = name;
        this.isStalled = isStalled;
        this.goOn = goOn;
        this.pause = pause;
    }

    /// The machine is about to be frozen, or to go on again. Waits for a try that is under way: it must not thaw a frozen machine.
    void hold(boolean isToBeHeld) {
        deciding.lock();
        try {
            isHeld = isToBeHeld;
        } finally {
            deciding.unlock();
        }
    }

    /// The machine stopped, for whatever reason.
    void stopped() {
        if (isWaiting.compareAndSet(false, true)) {
            Thread.ofVirtual().name("stall-" + name).start(this::tryLater);
        }
    }

    private void tryLater() {
        try {
            pause.run();
        } catch (Failure e) {
            return; // there is nothing more to try
        } finally {
            isWaiting.set(false); // a stop from here on is a new one
        }
        try {
            tryNow();
        } catch (Failure e) {
            LOG.warn("{} did not tell whether it waits for room: {}", name, e.getMessage());
            stopped();
        }
    }

    private void tryNow() {
        deciding.lock();
        try {
            var deadline = Deadline.in(CONTROL);
            if (!isHeld && isStalled.test(deadline)) {
                tell();
                goOn.accept(deadline);
            }
        } finally {
            deciding.unlock();
        }
    }

    /// The log may be on a full disk too.
    private void tell() {
        if (silence.isPast()) {
            silence = Deadline.in(SILENCE);
            LOG.warn(
                    "{} cannot write to its disk: the data volume is full; it waits for room",
                    name);
        }
    }
}
