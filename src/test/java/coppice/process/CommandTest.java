package coppice.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandTest {
    private static final String HANG =
            "sleep 600 & echo $! > \"$1.new\"; echo $$ >> \"$1.new\"; mv \"$1.new\" \"$1\"; wait";

    @TempDir private Path directory;

    @Test
    void theStatusAndBothOutputsOfAProgramAreTold() {
        var outcome = shell("echo out; echo err >&2; exit 7").run(soon());
        assertEquals(new Command.Outcome(7, "out\nerr\n"), outcome);
    }

    @Test
    void runOrFailShowsWhatAProgramThatFailedSaid() {
        assertEquals("fine\n", shell("echo fine").runOrFail(soon()));
        var failure =
                assertThrows(
                        Failure.class, () -> shell("echo no such disk; exit 3").runOrFail(soon()));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains("status 3: no such disk"), failure.getMessage());
    }

    @Test
    void aMissingProgramIsNamed() {
        var failure =
                assertThrows(Failure.class, () -> Command.of("no-such-program", "x").run(soon()));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains("no-such-program"), failure.getMessage());
    }

    @Test
    void aProgramThatReadsItsInputFindsItsEnd() {
        assertEquals(new Command.Outcome(0, ""), Command.of("cat").run(soon()));
    }

    @Test
    void aLateProgramIsKilledWithWhatItStarted() throws IOException {
        var pids = directory.resolve("pids");
        var failure =
                assertThrows(
                        Failure.class,
                        () -> hanging(pids).run(Deadline.in(Duration.ofMillis(1500))));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains("in time"), failure.getMessage());
        assertGone(pids);
    }

    @Test
    void aCallerThatIsInterruptedLeavesNoProgramBehind() throws Exception {
        var pids = directory.resolve("pids");
        var task =
                new FutureTask<>(
                        () -> {
                            assertThrows(Failure.class, () -> hanging(pids).run(soon()));
                            return Thread.currentThread().isInterrupted();
                        });
        var caller = Thread.ofVirtual().start(task);
        Child.await("a running program", () -> Files.exists(pids));
        caller.interrupt();
        assertTrue(task.get(), "the interrupt was swallowed");
        assertGone(pids);
    }

    @Test
    void outputBeyondTheLimitIsDroppedAndTheProgramGoesOn() {
        var outcome =
                shell("head -c 3000000 /dev/zero | tr '\\0' x; exit 5")
                        .run(Deadline.in(Duration.ofSeconds(30)));
        assertEquals(5, outcome.status());
        assertEquals(Command.OUTPUT_LIMIT, outcome.output().length());
    }

    @Test
    void charactersOfSeveralBytesArriveWhole() throws IOException {
        var random = Seed.random(CommandTest.class);
        var text = new StringBuilder();
        while (text.length() < 100_000) {
            text.append("aé€😀".repeat(random.nextInt(1, 50))).append('.');
        }
        var file = Files.writeString(directory.resolve("text"), text);
        assertEquals(text.toString(), Command.of("cat", file.toString()).runOrFail(soon()));
    }

    @Test
    void aProgramInTheBackgroundDoesNotHoldTheCaller() {
        var deadline = soon();
        var pid = Long.parseLong(shell("sleep 600 & echo $!").runOrFail(deadline).strip());
        assertTrue(!deadline.isPast(), "it was waited for");
        assertTrue(ProcessHandle.of(pid).orElseThrow().destroyForcibly());
    }

    private static Command shell(String script) {
        return Command.of("sh", "-c", script);
    }

    /// Starts another program, writes both numbers to a file, and hangs.
    private static Command hanging(Path pids) {
        return new Command(List.of("sh", "-c", HANG, "hang", pids.toString()));
    }

    private static void assertGone(Path pids) throws IOException {
        var lines = Files.readAllLines(pids);
        assertEquals(2, lines.size());
        for (var line : lines) {
            Child.await(
                    "the end of process " + line,
                    () -> ProcessId.of(Long.parseLong(line)).isEmpty());
        }
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }
}
