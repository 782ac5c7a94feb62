package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Machines that QEMU stops and that are let go on, or not. The test says when the next try is.
class StallsTest {
    private static final int PATIENCE = 10;

    private final Semaphore tries = new Semaphore(0);
    private final Semaphore asked = new Semaphore(0);
    private final AtomicInteger wentOn = new AtomicInteger();
    private volatile boolean isStalled = true;
    private volatile boolean isFull = true;
    private volatile boolean isDeaf;
    private volatile boolean isGone;

    private final Stalls stalls =
            new Stalls("vm", _ -> isStalled(), _ -> goOn(), this::awaitNextTry);

    @Test
    void aMachineIsTriedUntilThereIsRoom() throws InterruptedException {
        stalls.stopped();
        next();
        next();
        isFull = false;
        next();
        assertEquals(3, wentOn.get());
        assertNothingIsTried();
    }

    @Test
    void aMachineThatStoppedForAnotherReasonStaysAsItIs() throws InterruptedException {
        isStalled = false;
        stalls.stopped();
        next();
        assertEquals(0, wentOn.get());
    }

    @Test
    void aMachineThatIsHeldIsNotLetGoUntilItIsReleasedAndStallsAnew() throws InterruptedException {
        stalls.hold(true);
        stalls.stopped();
        tries.release();
        assertNothingIsTried();
        assertEquals(0, wentOn.get());

        stalls.hold(false);
        stalls.stopped();
        next();
        assertEquals(1, wentOn.get());
    }

    @Test
    void aMachineThatDoesNotAnswerIsAskedAgain() throws InterruptedException {
        isDeaf = true;
        stalls.stopped();
        next();
        isDeaf = false;
        next();
        assertEquals(1, wentOn.get());
    }

    @Test
    void oneThatHasEndedIsNotAskedAnyMore() throws InterruptedException {
        isDeaf = true;
        stalls.stopped();
        next();
        isGone = true;
        tries.release();
        assertNothingIsTried();
    }

    private void next() throws InterruptedException {
        tries.release();
        assertTrue(asked.tryAcquire(PATIENCE, TimeUnit.SECONDS), "nobody asked");
    }

    private void assertNothingIsTried() throws InterruptedException {
        assertTrue(!asked.tryAcquire(100, TimeUnit.MILLISECONDS), "tried all the same");
    }

    private boolean isStalled() {
        if (isDeaf) {
            asked.release();
            throw new Failure(Code.UNAVAILABLE, "no answer");
        }
        if (!isStalled) {
            asked.release();
        }
        return isStalled;
    }

    /// As QEMU does: while there is no room it stops again.
    private void goOn() {
        wentOn.incrementAndGet();
        isStalled = isFull;
        if (isFull) {
            stalls.stopped();
        }
        asked.release();
    }

    private void awaitNextTry() {
        tries.acquireUninterruptibly();
        if (isGone) {
            throw new Failure(Code.UNAVAILABLE, "gone");
        }
    }
}
