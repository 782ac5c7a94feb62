package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Against a QMP that its guest has taken over: whatever it says, the server is not harmed and who asked is told.
class HostileQmpTest {
    private static final int LINE_LIMIT = 1 << 20;

    @TempDir private Path directory;
    private Path path;
    private FakeQmp fake;
    private final AtomicInteger closings = new AtomicInteger();

    @BeforeEach
    void start() throws IOException {
        path = directory.resolve("qmp");
        fake = new FakeQmp(path);
    }

    @AfterEach
    void stop() throws IOException {
        fake.close();
    }

    static Stream<String> garbage() {
        return Stream.of(
                "no JSON at all",
                "{",
                "}",
                "",
                "\u0000\u0001\u0002",
                "{\"return\": {}, \"id\": 2} {\"return\": {}, \"id\": 2}",
                "[".repeat(100_000),
                "{\"a\":".repeat(100_000),
                "{\"return\": {}, \"id\": {}}",
                "{\"return\": {}, \"id\": \"x\"}",
                "{\"return\": 1e999999999, \"id\": [2]}",
                "{\"return\": " + "9".repeat(10_000) + ", \"id\": 2");
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void garbageEndsTheConnectionAndFailsTheQuestion(String text) {
        fake.on("ask", (_, line) -> line.say((text + "\n").getBytes(StandardCharsets.UTF_8)));
        assertEndsAtOnce();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "42",
                "null",
                "\"text\"",
                "[{\"id\": 2, \"return\": {}}]",
                "{}",
                "{\"return\": {}}",
                "{\"return\": \"for another\", \"id\": 999}",
                "{\"return\": \"for another\", \"id\": -1}",
                "{\"return\": \"for the first\", \"id\": 1}",
                "{\"QMP\": {}}",
                "{\"event\": 7}",
                "{\"event\": \"SHUTDOWN\", \"id\": 2, \"return\": \"an event is no answer\"}"
            })
    void whatAnswersNothingIsPassedOver(String text) {
        fake.on(
                "ask",
                (request, line) -> {
                    line.say(text);
                    line.agree(request, "\"right\"");
                    line.agree(request, "\"too much\"");
                });
        try (var qmp = connect()) {
            assertEquals("right", qmp.ask("ask", Map.of(), soon()).asString(""));
            assertTrue(qmp.isOpen());
        }
    }

    @Test
    void aLineWithoutEndIsReadUpToTheLimitOnly() {
        var written = new AtomicLong();
        fake.on("ask", (_, line) -> sayForEver(line, written));
        assertEndsAtOnce();
        assertTrue(written.get() < 8L * LINE_LIMIT, written + " bytes were taken");
    }

    private static void sayForEver(FakeQmp.Line line, AtomicLong written) throws IOException {
        var piece = new byte[65536];
        Arrays.fill(piece, (byte) 'x');
        while (written.get() < 1L << 30) {
            line.say(piece);
            written.addAndGet(piece.length);
        }
    }

    @Test
    void aLineJustBelowTheLimitIsAnAnswer() {
        var text = "x".repeat(LINE_LIMIT - 100);
        fake.on("ask", (request, line) -> line.agree(request, "\"" + text + "\""));
        try (var qmp = connect()) {
            assertEquals(text, qmp.ask("ask", Map.of(), soon()).asString(""));
        }
    }

    @Test
    void anAnswerThatComesByteByByteIsWhole() {
        fake.on(
                "ask",
                (request, line) -> {
                    for (byte b :
                            FakeQmp.answer(request, "\"ä€\"").getBytes(StandardCharsets.UTF_8)) {
                        line.say(new byte[] {b});
                    }
                    line.say("");
                });
        try (var qmp = connect()) {
            assertEquals("ä€", qmp.ask("ask", Map.of(), soon()).asString(""));
        }
    }

    @Test
    void anAnswerCutAnywhereIsNoAnswer() throws IOException {
        int length = "{\"return\": {}, \"id\": 2}".length();
        for (int cut = 0; cut < length; cut++) {
            int end = cut;
            var socket = directory.resolve("cut-" + cut);
            try (var cutting = new FakeQmp(socket)) {
                cutting.on(
                        "ask",
                        (request, line) -> {
                            var bytes =
                                    FakeQmp.answer(request, "{}").getBytes(StandardCharsets.UTF_8);
                            line.say(Arrays.copyOf(bytes, end));
                            line.hangUp();
                        });
                var qmp = connect(socket);
                assertThrows(
                        Failure.class, () -> qmp.ask("ask", Map.of(), soon()), "cut at " + cut);
            }
        }
        await("all ends", () -> closings.get() == length);
    }

    @Test
    void everyoneWhoWaitsIsToldWhenItEnds() throws Exception {
        int askers = 30;
        var asked = new CountDownLatch(askers);
        fake.on(
                "ask",
                (_, line) -> {
                    asked.countDown();
                    if (asked.getCount() == 0) {
                        line.hangUp();
                    }
                });
        var deadline = soon();
        try (var qmp = connect();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<Object> ask = () -> qmp.ask("ask", Map.of(), deadline);
            for (var answer : threads.invokeAll(java.util.Collections.nCopies(askers, ask))) {
                assertEquals("the QEMU ended during 'ask'", message(answer));
            }
        }
        assertFalse(deadline.isPast());
    }

    @Test
    void aQemuThatDoesNotAnswerTheFirstQuestionIsGivenUpAtTheDeadline() throws IOException {
        fake.on("qmp_capabilities", (_, _) -> {});
        var deadline = Deadline.in(Duration.ofMillis(30));
        assertThrows(Failure.class, () -> connect(path, deadline));
        await("its end", () -> closings.get() == 1);
        assertEquals(List.of("qmp_capabilities"), fake.commands());
    }

    /// Asks, and is told long before the deadline; whoever owns the QEMU is told once.
    private void assertEndsAtOnce() {
        var deadline = soon();
        var qmp = connect();
        var failure = assertThrows(Failure.class, () -> qmp.ask("ask", Map.of(), deadline));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertFalse(deadline.isPast(), failure.getMessage());
        await("the end", () -> closings.get() > 0);
        assertFalse(qmp.isOpen());
        assertThrows(Failure.class, () -> qmp.ask("ask", Map.of(), soon()));
        assertEquals(1, closings.get());
    }

    private static String message(Future<?> answer) throws InterruptedException {
        try {
            return "answered: " + answer.get();
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        }
    }

    static void await(String what, BooleanSupplier condition) {
        var deadline = soon();
        while (!condition.getAsBoolean()) {
            assertFalse(deadline.isPast(), "it did not happen in time: " + what);
            Thread.onSpinWait();
        }
    }

    private Qmp connect() {
        return connect(path);
    }

    private Qmp connect(Path socket) {
        return connect(socket, soon());
    }

    private Qmp connect(Path socket, Deadline deadline) {
        return Qmp.connect(
                "vm-1", socket, () -> true, deadline, _ -> {}, closings::incrementAndGet);
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }
}
