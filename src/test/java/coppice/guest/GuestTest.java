package coppice.guest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(60)
class GuestTest {
    private final FakeGuest vm =
            FakeGuest.running(
                    stdin -> Ending.exit(stdin.length % 256, stdin, "err".getBytes(UTF_8)));

    @AfterEach
    void unplug() throws IOException {
        assertTrue(
                vm.done().stream().noneMatch(what -> what.startsWith("breach")),
                () -> vm.done().toString());
        vm.close();
    }

    /// Without the clock of a greeting that took long.
    private List<String> done() {
        return vm.done().stream()
                .filter(what -> !what.equals("clock 1767323045000000006"))
                .toList();
    }

    private static Code failing(Executable action) {
        return assertThrows(Failure.class, action).code();
    }

    @Test
    void aCommandGivesItsStatusAndAllOutput() throws Exception {
        var stdin = new byte[300_001];
        new Random(2).nextBytes(stdin);
        var outcome =
                Given.connect(vm.plug()).exec(Given.exec("cat", "", stdin, 1 << 20), Given.soon());
        var exited = assertInstanceOf(ExecOutcome.Exited.class, outcome);
        assertEquals(300_001 % 256, exited.status());
        assertArrayEquals(stdin, exited.output().stdout());
        assertArrayEquals("err".getBytes(UTF_8), exited.output().stderr());
        assertFalse(exited.output().isTruncated());
    }

    @Test
    void outputOverTheLimitIsCountedNotKept() throws Exception {
        var guest = Given.connect(vm.plug());
        for (int limit : new int[] {0, 1, 2, 3, 99_999, 100_000}) {
            var output =
                    guest.exec(Given.exec("cat", "", new byte[100_000], limit), Given.soon())
                            .output();
            assertEquals(limit, output.stdout().length);
            assertEquals(100_000, output.stdoutLength());
            assertEquals(Math.min(3, limit), output.stderr().length);
            assertEquals(limit < 100_000, output.isTruncated());
        }
    }

    @Test
    void aSignalAndATimeoutAreOutcomes() throws Exception {
        try (var other =
                new FakeGuest(
                        command ->
                                _ ->
                                        command.equals("crash")
                                                ? Ending.signal(11, new byte[1])
                                                : Ending.timeout(new byte[2]))) {
            var guest = Given.connect(other.plug());
            assertEquals(
                    11,
                    assertInstanceOf(
                                    ExecOutcome.Signalled.class,
                                    guest.exec(
                                            Given.exec("crash", "", new byte[0], 9), Given.soon()))
                            .signal());
            var outcome = guest.exec(Given.exec("sleep", "", new byte[0], 9), Given.soon());
            assertEquals(
                    2,
                    assertInstanceOf(ExecOutcome.TimedOut.class, outcome).output().stdout().length);
        }
    }

    @Test
    void aRequestLargerThanAFrameArrives() throws Exception {
        var command = "x".repeat(1_500_000);
        Given.connect(vm.plug()).exec(Given.exec(command, "", new byte[0], 9), Given.soon());
        assertEquals(List.of("run " + command), done());
    }

    @Test
    void aRequestLargerThanTheProtocolAllowsIsRefused() throws Exception {
        var guest = Given.connect(vm.plug());
        assertEquals(
                Code.PAYLOAD_TOO_LARGE,
                failing(
                        () ->
                                guest.exec(
                                        Given.exec("x".repeat(2 << 20), "", new byte[0], 9),
                                        Given.soon())));
        assertTrue(guest.isOpen());
    }

    @Test
    void whatTheAgentRefusesIsTyped() throws Exception {
        var guest = Given.connect(vm.without("sync").plug());
        var noUser =
                assertThrows(
                        Failure.class,
                        () ->
                                guest.exec(
                                        Given.exec("x", "nobody-here", new byte[0], 9),
                                        Given.soon()));
        assertEquals(Code.BAD_REQUEST, noUser.code());
        assertTrue(noUser.getMessage().contains("nobody-here"));
        assertEquals(
                Code.RATE_LIMITED,
                failing(
                        () ->
                                guest.exec(
                                        Given.exec("x", "one-too-many", new byte[0], 9),
                                        Given.soon())));
        assertEquals(Code.AGENT_UNSUPPORTED, failing(() -> guest.sync(Given.soon())));
        var lie =
                assertThrows(
                        Failure.class,
                        () -> guest.exec(Given.exec("x", "liar", new byte[0], 9), Given.soon()));
        assertEquals(Code.UNAVAILABLE, lie.code());
        assertTrue(lie.getMessage().length() < 300, lie.getMessage());
        assertTrue(lie.getMessage().chars().noneMatch(Character::isISOControl), lie.getMessage());
        assertTrue(guest.isOpen());
    }

    @Test
    void theOtherOperationsReachTheAgent() throws Exception {
        var guest = Given.connect(vm.plug());
        guest.setClock(Instant.ofEpochSecond(1, 2), Given.soon());
        guest.sync(Given.soon());
        guest.onlineCpus(3, Given.soon());
        guest.onlineMemory(Size.ofMib(1), Given.soon());
        assertEquals(Size.ofMib(5 << 10), guest.growDisk(Given.soon()));
        assertFalse(guest.killExec(new ExecId(UUID.randomUUID()), 15, Given.soon()));
        var exec = Given.exec("cat", "", new byte[0], 9);
        guest.exec(exec, Given.soon());
        assertTrue(guest.killExec(exec.id(), 15, Given.soon()));
        guest.shutdown(Given.soon());
        assertFalse(guest.ping(Given.soon()).isNegative());
        assertEquals(
                List.of(
                        "clock 1000000002",
                        "sync",
                        "cpus 3",
                        "memory 1048576",
                        "disk.grow",
                        "run cat",
                        "kill 15",
                        "shutdown"),
                done());
    }

    @Test
    void aDeadlineEndsTheWaitAndNotTheConnection() throws Exception {
        var release = new CountDownLatch(1);
        try (var slow =
                FakeGuest.running(
                        stdin -> {
                            release.await();
                            return Ending.exit(0, stdin, stdin);
                        })) {
            var guest = Given.connect(slow.plug());
            var running = RunningExec.of(Given.exec("slow", "", "in".getBytes(UTF_8), 100));
            assertEquals(Code.UNAVAILABLE, failing(() -> guest.run(running, Given.atOnce())));
            guest.ping(Given.soon());
            release.countDown();
            var ended = assertInstanceOf(ExecAttempt.Ended.class, guest.run(running, Given.soon()));
            assertArrayEquals("in".getBytes(UTF_8), ended.outcome().output().stdout());
            assertEquals(1, slow.done().stream().filter("run slow"::equals).count());
        }
    }

    @Test
    void othersAreServedWhileALargeStdinGoesThroughASmallWindow() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var narrow =
                        FakeGuest.running(stdin -> Ending.exit(0, new byte[0], new byte[0]))
                                .withWindow(1000)) {
            var guest = Given.connect(narrow.plug());
            var large =
                    threads.submit(
                            () ->
                                    guest.exec(
                                            Given.exec("large", "", new byte[4 << 20], 9),
                                            Given.soon()));
            for (int i = 0; i < 20; i++) {
                guest.sync(Given.soon());
            }
            assertInstanceOf(ExecOutcome.Exited.class, large.get());
        }
    }

    @Test
    void streamsAreOpenedInTheOrderOfTheirNumbersWhoeverAsks() throws Exception {
        var guest = Given.connect(vm.plug());
        try (var threads = Executors.newFixedThreadPool(8)) {
            var calls = new ArrayList<Future<?>>();
            for (int i = 0; i < 4000; i++) {
                calls.add(threads.submit(() -> guest.sync(Given.soon())));
            }
            for (var call : calls) {
                call.get(); // a number that came too late would be a breach
            }
        }
    }

    @Test
    void closingFailsEveryWaitingCallAtOnce() throws Exception {
        var told = new AtomicInteger();
        var asked = new CountDownLatch(20);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var channel =
                    vm.scripted(
                            wire -> {
                                wire.welcome();
                                while (true) {
                                    wire.next(FrameKind.OPEN);
                                    asked.countDown();
                                }
                            });
            var guest = Given.connect(channel);
            guest.onClose(told::incrementAndGet);
            var calls = new ArrayList<Future<?>>();
            for (int i = 0; i < 20; i++) {
                calls.add(threads.submit(() -> guest.sync(Given.soon())));
            }
            calls.add(threads.submit(() -> guest.ping(Given.soon())));
            asked.await();
            guest.close();
            for (var call : calls) {
                var failure = assertThrows(ExecutionException.class, call::get).getCause();
                assertEquals(Code.UNAVAILABLE, assertInstanceOf(Failure.class, failure).code());
            }
            assertFalse(guest.isOpen());
            guest.onClose(told::incrementAndGet);
            assertEquals(2, told.get());
            assertEquals(Code.UNAVAILABLE, failing(() -> guest.sync(Given.soon())));
            assertEquals(Code.UNAVAILABLE, failing(() -> guest.ping(Given.soon())));
        }
    }

    @Test
    void anAgentThatGoesAwayClosesTheGuest() throws Exception {
        var closed = new CountDownLatch(1);
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            wire.next(FrameKind.OPEN);
                            wire.close();
                        });
        var guest = Given.connect(channel);
        guest.onClose(closed::countDown);
        assertEquals(Code.UNAVAILABLE, failing(() -> guest.sync(Given.soon())));
        closed.await();
        assertFalse(channel.isOpen());
    }

    @Test
    void anInterruptedCallerStopsAndTheConnectionGoesOn() throws Exception {
        var guest = Given.connect(vm.plug());
        Thread.currentThread().interrupt();
        assertEquals(
                Code.UNAVAILABLE,
                failing(() -> guest.exec(Given.exec("cat", "", new byte[0], 9), Given.soon())));
        assertTrue(Thread.interrupted());
        guest.ping(Given.soon());
    }
}
