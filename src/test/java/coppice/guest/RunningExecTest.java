package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.guest.FakeGuest.Ending;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RunningExecTest {
    private static final int LIMIT = 1_500_000;
    private static final int[] SIZES = {
        0,
        1,
        2,
        100,
        Frame.MAX_DATA - 1,
        Frame.MAX_DATA,
        Frame.MAX_DATA + 1,
        Inlet.WINDOW - 1,
        Inlet.WINDOW,
        Inlet.WINDOW + 1,
        2 << 20
    };

    private final long seed = new Random().nextLong();

    @Test
    void everyByteComesOnceWhateverBreaksInBetween() throws Exception {
        for (int round = 0; round < 3; round++) {
            breaking(new Random(seed + round));
        }
    }

    private void breaking(Random random) throws Exception {
        int count = 16;
        var plans = random.longs(count).toArray();
        try (var vm =
                        new FakeGuest(command -> stdin -> ending(Long.parseLong(command), stdin))
                                .withWindow(1 + random.nextInt(70_000));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var connection = new Reconnecting(vm, random);
            var outcomes = new ArrayList<Future<ExecOutcome>>();
            for (long plan : plans) {
                outcomes.add(threads.submit(() -> outcome(connection, exec(plan))));
            }
            for (int i = 0; i < count; i++) {
                check(plans[i], outcomes.get(i).get());
            }
            var done = vm.done().stream().filter(what -> !what.startsWith("clock")).toList();
            assertTrue(
                    done.stream().noneMatch(what -> what.startsWith("breach")),
                    () -> "seed " + seed + done);
            assertEquals(
                    count,
                    done.size(),
                    () -> "seed %d: a command ran twice: %s".formatted(seed, done));
            assertEquals(count, new HashSet<>(done).size());
            assertTrue(
                    connection.connections() > 3,
                    () -> "connections broke: " + connection.connections());
        }
    }

    private static ExecOutcome outcome(Reconnecting connection, Exec exec) {
        var running = RunningExec.of(exec);
        while (true) {
            switch (connection.guest().run(running, Given.soon())) {
                case ExecAttempt.Ended(var outcome) -> {
                    return outcome;
                }
                case ExecAttempt.Cut _ -> {}
                case ExecAttempt.Lost _ -> throw new AssertionError("lost");
            }
        }
    }

    private static Exec exec(long plan) {
        return Given.exec(Long.toString(plan), "", random(plan, 0, 200_000), LIMIT);
    }

    private static Ending ending(long plan, byte[] stdin) {
        return Ending.exit(
                Math.floorMod(Arrays.hashCode(stdin), 256), random(plan, 1, 0), random(plan, 2, 0));
    }

    private void check(long plan, ExecOutcome outcome) {
        var exited = assertInstanceOf(ExecOutcome.Exited.class, outcome);
        assertEquals(
                Math.floorMod(Arrays.hashCode(exec(plan).stdin()), 256),
                exited.status(),
                () -> "seed " + seed);
        var stdout = random(plan, 1, 0);
        var stderr = random(plan, 2, 0);
        assertArrayEquals(
                Arrays.copyOf(stdout, Math.min(stdout.length, LIMIT)),
                exited.output().stdout(),
                () -> "seed " + seed);
        assertArrayEquals(
                Arrays.copyOf(stderr, Math.min(stderr.length, LIMIT)),
                exited.output().stderr(),
                () -> "seed " + seed);
        assertEquals(stdout.length, exited.output().stdoutLength());
        assertEquals(stderr.length, exited.output().stderrLength());
    }

    private static byte[] random(long plan, int what, int most) {
        var random = new Random(plan + what);
        var bytes =
                new byte
                        [most > 0 && random.nextBoolean()
                                ? random.nextInt(most)
                                : SIZES[random.nextInt(SIZES.length)]];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void aCommandThatAnEarlierServerStartedIsAttachedTo() throws Exception {
        try (var vm = FakeGuest.running(stdin -> Ending.exit(3, stdin, stdin))) {
            var exec = Given.exec("cat", "", "abc".getBytes(), 100);
            Given.connect(vm.plug()).exec(exec, Given.soon());
            var ended =
                    Given.connect(vm.plug())
                            .run(RunningExec.attached(exec.id(), 100), Given.soon());
            var outcome = assertInstanceOf(ExecAttempt.Ended.class, ended).outcome();
            assertArrayEquals("abc".getBytes(), outcome.output().stdout());
        }
    }

    @Test
    void aCommandThatTheGuestDoesNotKnowIsLost() throws Exception {
        try (var vm = FakeGuest.running(stdin -> Ending.exit(3, stdin, stdin))) {
            var exec = Given.exec("cat", "", new byte[0], 100);
            var attempt =
                    Given.connect(vm.plug())
                            .run(RunningExec.attached(exec.id(), 100), Given.soon());
            assertInstanceOf(ExecAttempt.Lost.class, attempt);
        }
    }

    @Test
    void aCommandThatMayHaveDiedInARebootIsNotRunAgain() throws Exception {
        try (var vm = FakeGuest.running(stdin -> Ending.exit(3, stdin, stdin))) {
            var silent =
                    vm.scripted(
                            wire -> {
                                wire.welcome();
                                wire.next(FrameKind.OPEN);
                                wire.close();
                            });
            var running = RunningExec.of(Given.exec("cat", "", new byte[0], 100));
            assertInstanceOf(
                    ExecAttempt.Cut.class, Given.connect(silent).run(running, Given.soon()));
            vm.reboot();
            assertInstanceOf(
                    ExecAttempt.Lost.class, Given.connect(vm.plug()).run(running, Given.soon()));
            assertTrue(vm.done().stream().noneMatch(what -> what.startsWith("run")));
        }
    }

    @Test
    void aCommandThatWasNeverAskedForMayStillBeRunAfterAReboot() throws Exception {
        try (var vm = FakeGuest.running(stdin -> Ending.exit(3, stdin, stdin))) {
            var running = RunningExec.of(Given.exec("cat", "", new byte[0], 100));
            var closed = Given.connect(vm.plug());
            closed.close();
            assertInstanceOf(ExecAttempt.Cut.class, closed.run(running, Given.soon()));
            vm.reboot();
            assertInstanceOf(
                    ExecAttempt.Ended.class, Given.connect(vm.plug()).run(running, Given.soon()));
        }
    }

    @Test
    void onlyOneThreadAtATimeRunsACommand() throws Exception {
        var release = new CountDownLatch(1);
        var entered = new CountDownLatch(1);
        try (var vm =
                        FakeGuest.running(
                                stdin -> {
                                    entered.countDown();
                                    release.await();
                                    return Ending.exit(0, stdin, stdin);
                                });
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var guest = Given.connect(vm.plug());
            var running = RunningExec.of(Given.exec("cat", "", new byte[0], 100));
            var first = threads.submit(() -> guest.run(running, Given.soon()));
            entered.await();
            assertThrows(IllegalStateException.class, () -> guest.run(running, Given.soon()));
            release.countDown();
            assertInstanceOf(ExecAttempt.Ended.class, first.get());
        }
    }
}
