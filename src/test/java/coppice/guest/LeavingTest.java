package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How a connection is ended so that nothing of what the agent says is under way, and kept still for a moment.
@Timeout(60)
class LeavingTest {
    /// More than a socket holds.
    private static final int LAST_WORDS = 200;

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, new byte[0]));
    private final CountDownLatch asked = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void unplug() throws IOException {
        vm.close();
        threads.close();
    }

    private interface Rest {
        void play(Wire wire, int stream) throws IOException;
    }

    /// A guest whose agent follows the script from its first request on.
    private Guest asked(Rest script) throws IOException {
        return Given.connect(
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            int stream = wire.next().stream();
                            asked.countDown();
                            script.play(wire, stream);
                        }));
    }

    @Test
    void allThatTheAgentSaysUntilItsLastAnswerIsTaken() throws Exception {
        var heard = new CountDownLatch(1);
        var guest =
                asked(
                        (wire, stream) -> {
                            int last = wire.next().stream();
                            for (int i = 0; i < LAST_WORDS; i++) {
                                wire.send(Scripts.data(stream, 1, 0, Frame.MAX_DATA));
                            }
                            Scripts.result(wire, last, new FieldsWriter());
                            assertThrows(IOException.class, wire::next);
                            heard.countDown();
                        });
        var sync = sync(guest);
        asked.await();
        guest.leave(Given.soon());
        assertTrue(heard.await(30, TimeUnit.SECONDS));
        assertFalse(guest.isOpen());
        assertEquals(Code.UNAVAILABLE, sync.get().code());
    }

    @Test
    void whoWaitsIsToldAtOnceAndNothingMoreIsAsked() throws Exception {
        var isTold = new CountDownLatch(1);
        var guest =
                asked(
                        (wire, _) -> {
                            int last = wire.next().stream();
                            await(isTold);
                            Scripts.result(wire, last, new FieldsWriter());
                        });
        var sync = sync(guest);
        asked.await();
        var leaving = threads.submit(() -> guest.leave(Given.soon()));
        assertTrue(sync.get().getMessage().contains("was closed"));
        assertFalse(guest.isOpen());
        assertEquals(Code.UNAVAILABLE, sync(guest).get().code());
        assertThrows(Failure.class, () -> guest.ping(Given.soon()));
        assertFalse(leaving.isDone());
        isTold.countDown();
        leaving.get();
    }

    @Test
    void anAgentThatDoesNotFallSilentIsCutOff() throws Exception {
        var isCut = new CountDownLatch(1);
        var guest =
                asked(
                        (wire, _) -> {
                            assertThrows(IOException.class, wire::next);
                            isCut.countDown();
                        });
        guest.leave(Given.atOnce());
        assertTrue(isCut.await(30, TimeUnit.SECONDS));
    }

    @Test
    void anAgentThatCannotFallSilentIsNotAskedTo() throws Exception {
        try (var old = FakeGuest.running(stdin -> Ending.exit(0, stdin, new byte[0]))) {
            var guest = Given.connect(old.without("leave").plug());
            guest.leave(Given.soon());
            assertFalse(guest.isOpen());
            assertFalse(old.done().contains("leave"));
        }
    }

    @Test
    void aConnectionIsStillOnlyWhileNothingIsAsked() throws Exception {
        var mayAnswer = new CountDownLatch(1);
        var guest =
                asked(
                        (wire, stream) -> {
                            await(mayAnswer);
                            Scripts.result(wire, stream, new FieldsWriter());
                            Scripts.result(wire, wire.next().stream(), new FieldsWriter());
                        });
        var first = threads.submit(() -> guest.sync(Given.soon()));
        asked.await();
        assertFalse(isStill(guest));
        mayAnswer.countDown();
        first.get();
        while (!isStill(guest)) {
            Thread.onSpinWait(); // the writer is about to find that there is nothing to do
        }
    }

    @Test
    void whatIsAskedOfAHeldConnectionWaits() throws Exception {
        var guest = Given.connect(vm.plug());
        guest.hold();
        Future<?> sync;
        try {
            sync = threads.submit(() -> guest.sync(Given.soon()));
            assertThrows(
                    java.util.concurrent.TimeoutException.class,
                    () -> sync.get(50, TimeUnit.MILLISECONDS));
            assertFalse(vm.done().contains("sync"));
        } finally {
            guest.release();
        }
        sync.get();
        assertTrue(vm.done().contains("sync"));
    }

    private static boolean isStill(Guest guest) {
        try {
            return guest.hold();
        } finally {
            guest.release();
        }
    }

    /// What the call fails with.
    private Future<Failure> sync(Guest guest) {
        return threads.submit(() -> assertThrows(Failure.class, () -> guest.sync(Given.soon())));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
