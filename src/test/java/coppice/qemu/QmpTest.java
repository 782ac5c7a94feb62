package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Against a QMP that behaves. [HostileQmpTest] has one that does not.
class QmpTest {
    private static final int ASKERS = 40;

    @TempDir private Path directory;
    private FakeQmp fake;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final AtomicInteger closings = new AtomicInteger();

    @BeforeEach
    void start() throws IOException {
        fake = new FakeQmp(directory.resolve("qmp"));
    }

    @AfterEach
    void stop() throws IOException {
        fake.close();
    }

    @Test
    void anAnswerIsWhatTheCommandReturned() {
        fake.on("query-status", (r, line) -> line.agree(r, "{\"status\": \"running\"}"));
        try (var qmp = connect()) {
            assertTrue(qmp.isOpen());
            assertEquals(
                    "running",
                    qmp.ask("query-status", Map.of(), soon()).path("status").asString(""));
            assertEquals(List.of("qmp_capabilities", "query-status"), fake.commands());
        }
    }

    @Test
    void answersOutOfOrderReachWhoAskedAndEventsBetweenThemAreToldInOrder() throws Exception {
        var random = Seed.random(QmpTest.class);
        var held = new ArrayList<JsonNode>();
        fake.on(
                "echo",
                (request, line) -> {
                    held.add(request);
                    line.say("{\"event\": \"E%d\", \"data\": {}}".formatted(held.size()));
                    if (held.size() == ASKERS) {
                        answerShuffled(held, random, line);
                    }
                });
        try (var qmp = connect();
                var askers = Executors.newVirtualThreadPerTaskExecutor()) {
            var asks =
                    IntStream.range(0, ASKERS)
                            .mapToObj(n -> (Callable<Long>) () -> echo(qmp, n))
                            .toList();
            var answers = askers.invokeAll(asks);
            for (int n = 0; n < ASKERS; n++) {
                assertEquals(n, answers.get(n).get());
            }
        }
        assertEquals(IntStream.rangeClosed(1, ASKERS).mapToObj(n -> "E" + n).toList(), events);
    }

    private static void answerShuffled(List<JsonNode> held, Random random, FakeQmp.Line line)
            throws IOException {
        Collections.shuffle(held, random);
        for (var request : held) {
            line.agree(request, request.path("arguments").path("n").toString());
        }
    }

    private static long echo(Qmp qmp, int n) {
        return qmp.ask("echo", Map.of("n", n), soon()).asLong();
    }

    @Test
    void aRefusalCarriesTheWordsOfQemuAndTheNextQuestionIsAnswered() {
        fake.on(
                "device_add",
                (request, line) ->
                        line.say(
                                "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no such bus\"}, \"id\": %s}"
                                        .formatted(request.path("id"))));
        try (var qmp = connect()) {
            var failure =
                    assertThrows(Failure.class, () -> qmp.ask("device_add", Map.of(), soon()));
            assertEquals(Code.UNAVAILABLE, failure.code());
            assertEquals("QEMU refused 'device_add': no such bus", failure.getMessage());
            qmp.ask("query-status", Map.of(), soon());
        }
    }

    @Test
    void aQuestionThatIsNotAnsweredInTimeFailsAndItsLateAnswerIsNobodyElses() {
        var unanswered = new ArrayList<JsonNode>();
        fake.on("slow", (request, _) -> unanswered.add(request));
        fake.on(
                "next",
                (request, line) -> {
                    line.agree(unanswered.getFirst(), "\"late\"");
                    line.agree(request, "\"right\"");
                });
        try (var qmp = connect()) {
            var failure =
                    assertThrows(
                            Failure.class,
                            () -> qmp.ask("slow", Map.of(), Deadline.in(Duration.ofMillis(20))));
            assertTrue(failure.getMessage().contains("'slow' in time"), failure.getMessage());
            assertEquals("right", qmp.ask("next", Map.of(), soon()).asString(""));
        }
    }

    @Test
    void itWaitsForTheSocketAsLongAsItsQemuIsAlive() throws IOException {
        var path = directory.resolve("later");
        var polls = new AtomicInteger();
        var later = new ArrayList<FakeQmp>();
        try (var qmp =
                Qmp.connect(
                        "vm-1",
                        path,
                        () -> {
                            if (polls.incrementAndGet() == 3) {
                                later.add(listen(path));
                            }
                            return true;
                        },
                        soon(),
                        _ -> {},
                        closings::incrementAndGet)) {
            assertTrue(qmp.isOpen());
            assertEquals(3, polls.get());
        }
        later.getFirst().close();
    }

    @Test
    void aQemuThatEndsBeforeItListensIsNotWaitedFor() {
        var absent = directory.resolve("absent");
        var failure =
                assertThrows(Failure.class, () -> Qmp.open(absent, () -> false, soon()).close());
        assertEquals(Code.UNAVAILABLE, failure.code());
    }

    @Test
    void aQemuThatNeverListensIsWaitedForUntilTheDeadline() {
        var absent = directory.resolve("absent");
        var deadline = Deadline.in(Duration.ofMillis(30));
        var failure =
                assertThrows(Failure.class, () -> Qmp.open(absent, () -> true, deadline).close());
        assertEquals(Code.VM_START_TIMEOUT, failure.code());
        assertTrue(deadline.isPast());
    }

    @Test
    void closingItFailsWhoWaitsAndIsToldOnce() throws Exception {
        var qmp = connect();
        fake.on("hang", (_, _) -> qmp.close());
        var failure = assertThrows(Failure.class, () -> qmp.ask("hang", Map.of(), soon()));
        assertEquals("the QEMU ended during 'hang'", failure.getMessage());
        HostileQmpTest.await("the end", () -> closings.get() > 0);
        qmp.close();
        assertFalse(qmp.isOpen());
        assertThrows(Failure.class, () -> qmp.ask("query-status", Map.of(), soon()));
        assertEquals(1, closings.get());
    }

    private static FakeQmp listen(Path path) {
        try {
            return new FakeQmp(path);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Qmp connect() {
        return Qmp.connect(
                "vm-1",
                directory.resolve("qmp"),
                () -> true,
                soon(),
                event -> events.add(event.path("event").asString("")),
                closings::incrementAndGet);
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }
}
