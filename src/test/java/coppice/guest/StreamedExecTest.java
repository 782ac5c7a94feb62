package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.guest.FakeGuest.Ending;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class StreamedExecTest {
    private static final int LIMIT = 4 << 20;

    @Test
    void everyByteGoesBothWaysOnceWhateverBreaksInBetween() throws Exception {
        var random = Seed.random(StreamedExecTest.class);
        for (int round = 0; round < 6; round++) {
            var input = bytes(random, random.nextInt(2_500_000));
            try (var vm =
                            new FakeGuest(
                                            command ->
                                                    stdin -> Ending.exit(5, stdin, reversed(stdin)))
                                    .withWindow(1 + random.nextInt(70_000));
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var connection = new Reconnecting(vm, random);
                var exec = new StreamedExec(Given.exec("echo", "", new byte[0], LIMIT));
                var outcome = threads.submit(() -> run(connection, exec));
                var stdout = read(threads, exec, true);
                var stderr = read(threads, exec, false);
                write(exec, input, random);
                assertEquals(5, ((ExecOutcome.Exited) outcome.get()).status());
                assertFalse(outcome.get().output().isTruncated());
                assertArrayEquals(input, stdout.get());
                assertArrayEquals(reversed(input), stderr.get());
                assertTrue(vm.done().stream().noneMatch(what -> what.startsWith("breach")));
                assertTrue(input.length < 500_000 || connection.connections() > 2);
            }
        }
    }

    private static ExecOutcome run(Reconnecting connection, StreamedExec exec) {
        try {
            while (true) {
                var attempt = connection.guest().run(exec.running(), Given.soon());
                if (attempt instanceof ExecAttempt.Ended(var outcome)) {
                    return outcome;
                }
                assertInstanceOf(ExecAttempt.Cut.class, attempt);
            }
        } finally {
            exec.end();
        }
    }

    private static Future<byte[]> read(
            ExecutorService threads, StreamedExec exec, boolean isStdout) {
        return threads.submit(
                () -> {
                    var all = new ByteArrayOutputStream();
                    while (true) {
                        switch (isStdout ? exec.stdout(Given.soon()) : exec.stderr(Given.soon())) {
                            case StreamedExec.Said.Bytes(var bytes) -> all.writeBytes(bytes);
                            case StreamedExec.Said.End _ -> {
                                return all.toByteArray();
                            }
                            case StreamedExec.Said.Nothing _ ->
                                    throw new AssertionError("nothing more came");
                        }
                    }
                });
    }

    private static void write(StreamedExec exec, byte[] input, Random random) {
        for (int at = 0; at < input.length; ) {
            int length = Math.min(1 + random.nextInt(100_000), input.length - at);
            assertTrue(exec.write(Arrays.copyOfRange(input, at, at + length), Given.soon()));
            at += length;
        }
        exec.endInput();
    }

    @Test
    void whatNobodyTakesIsNotAskedFor() throws Exception {
        var output = new byte[LIMIT];
        try (var vm = new FakeGuest(command -> stdin -> Ending.exit(0, output, new byte[0]));
                var guest = Given.connect(vm.plug());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var exec = new StreamedExec(Given.exec("much", "", new byte[0], LIMIT));
            exec.endInput();
            var attempt = threads.submit(() -> guest.run(exec.running(), Given.soon()));
            assertTrue(Given.soon().left().isPositive());
            var first = assertInstanceOf(StreamedExec.Said.Bytes.class, exec.stdout(Given.soon()));
            guest.ping(Given.soon());
            assertFalse(attempt.isDone());
            int taken = first.bytes().length;
            while (taken < LIMIT) {
                taken +=
                        assertInstanceOf(StreamedExec.Said.Bytes.class, exec.stdout(Given.soon()))
                                .bytes()
                                .length;
            }
            assertInstanceOf(StreamedExec.Said.End.class, exec.stdout(Given.soon()));
            assertInstanceOf(ExecAttempt.Ended.class, attempt.get());
        }
    }

    @Test
    void aProgramThatIsOverIsToldNothingAndNobodyWaitsForIt() {
        var exec = new StreamedExec(Given.exec("x", "", new byte[0], LIMIT));
        assertTrue(exec.write(new byte[1 << 20], Given.atOnce()));
        assertFalse(exec.write(new byte[1], Given.atOnce()));
        assertInstanceOf(StreamedExec.Said.Nothing.class, exec.stdout(Given.atOnce()));
        exec.end();
        assertTrue(exec.write(new byte[1], Given.atOnce()));
        assertInstanceOf(StreamedExec.Said.End.class, exec.stdout(Given.atOnce()));
    }

    private static byte[] bytes(Random random, int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] reversed(byte[] bytes) {
        var reversed = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            reversed[i] = bytes[bytes.length - 1 - i];
        }
        return reversed;
    }
}
