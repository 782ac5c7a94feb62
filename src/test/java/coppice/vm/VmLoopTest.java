package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VmLoopTest {
    private static final int INBOX = 256;

    private final VmLoop loop = new VmLoop(VmId.random());
    private final CountDownLatch busy = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);

    @BeforeEach
    void start() {
        loop.start();
    }

    @AfterEach
    void close() {
        gate.countDown();
        loop.finish();
        loop.awaitEnd(Deadline.in(Duration.ofSeconds(5)));
    }

    @Test
    void workIsDoneInTheOrderInWhichItCameAndByOneThread() {
        var done = new ArrayList<Integer>(); // touched by the loop's thread only
        var threads = new CopyOnWriteArrayList<Thread>();
        for (int n = 0; n < 1000; n++) {
            int number = n;
            loop.tell(
                    () -> {
                        done.add(number);
                        threads.addIfAbsent(Thread.currentThread());
                    });
        }
        var last = new CountDownLatch(1);
        loop.tell(last::countDown); // waits for room, where a question would be refused
        await("the last", () -> last.getCount() == 0);
        assertEquals(IntStream.range(0, 1000).boxed().toList(), loop.ask(() -> done, soon()));
        assertEquals(1, threads.size());
    }

    @Test
    void anAnswerComesBack() {
        assertEquals("42", loop.ask(() -> "42", soon()));
    }

    @Test
    void aFullInboxIsRefusedAtOnceAndWorksAgainWhenThereIsRoom() {
        hold();
        for (int n = 0; n < INBOX; n++) {
            loop.tell(() -> {});
        }
        var deadline = soon();
        assertFails(Code.RATE_LIMITED, () -> loop.ask(() -> 1, deadline));
        assertFalse(deadline.isPast());
        gate.countDown();
        await("room", () -> isAnswered());
    }

    private boolean isAnswered() {
        try {
            return loop.ask(() -> true, soon());
        } catch (Failure e) {
            assertEquals(Code.RATE_LIMITED, e.code());
            return false;
        }
    }

    @Test
    void whatACallerStoppedWaitingForIsStillDone() {
        hold();
        var done = new AtomicBoolean();
        var late = Deadline.in(Duration.ofMillis(20));
        assertFails(
                Code.VM_START_TIMEOUT,
                () ->
                        loop.ask(
                                () -> {
                                    done.set(true);
                                    return 1;
                                },
                                late));
        assertTrue(late.isPast());
        assertFalse(done.get());
        gate.countDown();
        loop.ask(() -> 1, soon());
        assertTrue(done.get());
    }

    @Test
    void anInterruptedCallerIsToldAndItsWorkIsStillDone() throws Exception {
        hold();
        var done = new AtomicBoolean();
        var caller =
                start(
                        () -> {
                            assertFails(
                                    Code.UNAVAILABLE,
                                    () -> loop.ask(() -> done.getAndSet(true), soon()));
                            return Thread.currentThread().isInterrupted();
                        });
        await("a waiting caller", caller::isWaiting);
        caller.thread().interrupt();
        assertTrue(caller.task().get(), "the interrupt was swallowed");
        gate.countDown();
        loop.ask(() -> 1, soon());
        assertTrue(done.get());
    }

    @Test
    void whenTheVmIsGoneEveryoneIsToldAlsoThoseWhoWait() throws Exception {
        hold();
        loop.tell(loop::leave);
        var done = new AtomicBoolean();
        var callers = new ArrayList<Caller<Code>>();
        for (int n = 0; n < 50; n++) {
            callers.add(start(() -> codeOf(() -> loop.ask(() -> done.getAndSet(true), soon()))));
        }
        await("waiting callers", () -> callers.stream().allMatch(Caller::isWaiting));
        loop.tell(() -> done.set(true));
        gate.countDown();
        for (var caller : callers) {
            assertEquals(Code.NOT_FOUND, caller.task().get());
        }
        assertFails(Code.NOT_FOUND, () -> loop.ask(() -> done.getAndSet(true), soon()));
        assertTrue(loop.isGone());
        assertFalse(done.get(), "something was done to a VM that is gone");
    }

    @Test
    void whoAsksInTheVeryMomentOfLeavingIsAnswered() throws Exception {
        for (int round = 0; round < 50; round++) {
            var leaving = new VmLoop(VmId.random());
            leaving.start();
            var callers = new ArrayList<Caller<Code>>();
            for (int n = 0; n < 20; n++) {
                callers.add(start(() -> codeOf(() -> leaving.ask(() -> Code.CONFLICT, soon()))));
            }
            leaving.ask(
                    () -> {
                        leaving.leave();
                        return 1;
                    },
                    soon());
            for (var caller : callers) {
                var code = caller.task().get();
                assertTrue(
                        code == Code.NOT_FOUND || code == Code.CONFLICT, "answered with " + code);
            }
            leaving.finish();
            leaving.awaitEnd(Deadline.in(Duration.ofSeconds(5)));
        }
    }

    @Test
    void whatTheWorkThrowsReachesTheCallerAndTheLoopGoesOn() {
        for (var thrown :
                List.of(
                        new Failure(Code.CONFLICT, "no"),
                        new IllegalStateException("bug"),
                        new StackOverflowError(),
                        new AssertionError("bug"))) {
            var caught = assertThrows(Throwable.class, () -> loop.ask(() -> raise(thrown), soon()));
            assertSame(thrown, caught);
        }
        var checked = new IOException("disk");
        var caught =
                assertThrows(
                        IllegalStateException.class,
                        () ->
                                loop.ask(
                                        () -> {
                                            throw checked;
                                        },
                                        soon()));
        assertSame(checked, caught.getCause());
        assertEquals(1, loop.ask(() -> 1, soon()));
    }

    @Test
    void whatNobodyWaitsForMayThrowWithoutEndingTheLoop() {
        loop.tell(() -> raise(new IllegalStateException("a bug that is logged")));
        loop.tell(() -> raise(new AssertionError("another")));
        assertEquals(1, loop.ask(() -> 1, soon()));
    }

    @Test
    void itIsBusyWhileItWorks() {
        assertFalse(loop.isBusy());
        hold();
        assertTrue(loop.isBusy());
        gate.countDown();
        await("rest", () -> !loop.isBusy());
    }

    /// Makes the loop busy until the gate opens.
    private void hold() {
        loop.tell(
                () -> {
                    busy.countDown();
                    awaitLatch(gate);
                });
        awaitLatch(busy);
    }

    private record Caller<T>(Thread thread, FutureTask<T> task) {
        boolean isWaiting() {
            return thread.getState() == Thread.State.TIMED_WAITING;
        }
    }

    private static <T> Caller<T> start(Callable<T> call) {
        var task = new FutureTask<>(call);
        return new Caller<>(Thread.ofVirtual().start(task), task);
    }

    private static Code codeOf(Callable<?> call) throws Exception {
        try {
            return call.call() instanceof Code code ? code : Code.INTERNAL_ERROR;
        } catch (Failure e) {
            return e.code();
        }
    }

    private static <T> T raise(Throwable thrown) {
        switch (thrown) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalArgumentException(thrown);
        }
    }

    private static void assertFails(Code code, org.junit.jupiter.api.function.Executable call) {
        assertEquals(code, assertThrows(Failure.class, call).code());
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        var deadline = soon();
        while (!condition.getAsBoolean()) {
            assertFalse(deadline.isPast(), "it did not happen in time: " + what);
            Thread.onSpinWait();
        }
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }
}
