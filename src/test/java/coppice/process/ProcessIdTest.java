package coppice.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessIdTest {

    @Test
    void aProcessIsAliveUntilItIsKilled() throws IOException {
        try (var child = new Child("echo ready; read line")) {
            assertEquals("ready", child.says());
            var id = ProcessId.of(child.pid()).orElseThrow();
            assertEquals(child.pid(), id.pid());
            assertTrue(id.isAlive());
            id.kill();
            Child.await("the death of " + id, () -> !id.isAlive());
            assertEquals(Optional.empty(), ProcessId.of(child.pid()));
            id.kill(); // once more is fine
        }
    }

    @Test
    void aNumberThatAnotherProcessHasNowIsNeitherAliveNorKilled() throws IOException {
        try (var child = new Child("echo ready; while read line; do echo $line; done")) {
            assertEquals("ready", child.says());
            var now = ProcessId.of(child.pid()).orElseThrow();
            var before = new ProcessId(now.pid(), now.startTicks() - 1);
            assertFalse(before.isAlive());
            before.kill();
            assertTrue(now.isAlive());
        }
    }

    @Test
    void theTimeOnProcessorsIsThatOfTheProcessAndOfNoOtherWithItsNumber() throws IOException {
        try (var child = new Child("while :; do :; done")) {
            var id = ProcessId.of(child.pid()).orElseThrow();
            Child.await("time", () -> id.cpuTime().orElseThrow().toMillis() >= 50);
            long other =
                    ProcessHandle.of(child.pid())
                            .flatMap(it -> it.info().totalCpuDuration())
                            .orElseThrow()
                            .toMillis();
            long now = id.cpuTime().orElseThrow().toMillis();
            assertTrue(now >= other && now < other + 5000, now + " ms, " + other + " ms");
            var before = new ProcessId(id.pid(), id.startTicks() - 1);
            assertEquals(Optional.empty(), before.cpuTime());
            id.kill();
            Child.await("the death of " + id, () -> id.cpuTime().isEmpty());
        }
    }

    @Test
    void aZombieIsGone() throws IOException {
        // The shell turns into a sleep, which never asks how its child ended; the child waits for
        // that.
        var script = "(while grep -q sh /proc/$$/comm; do :; done) & echo $!; exec sleep 60";
        try (var child = new Child(script)) {
            long zombie = Long.parseLong(child.says());
            Child.await("a zombie", () -> stat(zombie).contains(") Z "));
            assertEquals(Optional.empty(), ProcessId.of(zombie));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a b", // spaces
                ") Z 1 (", // what looks like the rest of the line
                "x) Z 0 0 0",
                "))))((((",
                "\\n) X\\n", // line ends
                "\\377\\376 Z", // no UTF-8
                "\\303"
            })
    void aProcessMayCallItselfAsItLikes(String name) throws IOException {
        try (var child = new Child("printf \"$1\" > /proc/$$/comm; echo ready; read line", name)) {
            assertEquals("ready", child.says());
            var id = ProcessId.of(child.pid());
            assertTrue(id.isPresent(), () -> "taken for gone: " + stat(child.pid()));
            assertEquals(startOf(child.pid()), id.get().startTicks());
        }
    }

    @Test
    void whatNeverWasIsGone() {
        assertEquals(Optional.empty(), ProcessId.of(1L << 30));
        assertFalse(new ProcessId(1L << 30, 1).isAlive());
    }

    private static String stat(long pid) {
        try {
            return new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(pid), "stat")),
                    StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    /// Counted from the end of the line, which the name cannot reach: 52 fields, the start time is number 22.
    private static long startOf(long pid) {
        var fields = stat(pid).strip().split(" ");
        return Long.parseLong(fields[fields.length - 52 + 21]);
    }
}
