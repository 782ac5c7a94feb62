package coppice.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.Wait;
import coppice.base.RandomText;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ControlGroupIT {
    private static final Size MEMORY = Size.ofMib(64);
    private static final String JOIN = "for f; do echo $$ > \"$f\"; done; ";

    private final String instance = RandomText.id("test-");
    private final ControlGroup group = ControlGroup.of(instance, "vm-1");

    @BeforeEach
    void requireRoot() {
        assumeTrue(
                Files.isWritable(Path.of("/sys/fs/cgroup")) && !group.entrances().isEmpty(),
                "skipped: control groups cannot be made here (needs root)");
    }

    @AfterEach
    void cleanUp() throws IOException {
        group.delete();
        for (var entrance : group.entrances()) {
            Files.deleteIfExists(entrance.getParent().getParent());
        }
    }

    @Test
    void aGroupHasItsLimits() throws IOException {
        group.create(MEMORY, 2);
        assertEquals(List.of("vm-1"), ControlGroup.names(instance));
        var memory = read("memory.limit_in_bytes", "memory.max");
        assertEquals(List.of(Long.toString(MEMORY.bytes())), memory);
        assertEquals(List.of("512"), read("pids.max"));
        assertEquals(250_000, cpuQuota());
        group.create(Size.ofMib(128), 3); // again, with another limit
        assertEquals(
                List.of(Long.toString(128L << 20)), read("memory.limit_in_bytes", "memory.max"));
        assertEquals(350_000, cpuQuota());
        group.limitCpus(1);
        assertEquals(150_000, cpuQuota());
    }

    @Test
    void processesOfAGroupAreFoundAndEndedByItsDeletion() throws IOException {
        group.create(MEMORY, 2);
        try (var child = new Child(JOIN + "sleep 600 & echo $!; wait", entrances())) {
            long second = Long.parseLong(child.says());
            var pids = group.processes().stream().map(ProcessId::pid).toList();
            assertEquals(Stream.of(child.pid(), second).sorted().toList(), pids);
            group.delete();
            assertTrue(ProcessId.of(second).isEmpty());
            // The JDK learns of the end of a child by a thread of its own.
            Wait.until(Duration.ofSeconds(10), () -> !child.isAlive(), () -> "it lives");
            assertEquals(List.of(), ControlGroup.names(instance));
            group.delete(); // once more changes nothing
        }
    }

    @Test
    void aProcessThatMultipliesIsEndedWhole() throws IOException {
        group.create(MEMORY, 2);
        var storm = "echo ready; while :; do sh -c 'sleep 600' & sh -c : & done";
        try (var child = new Child("exec 2>/dev/null; " + JOIN + storm, entrances())) {
            assertEquals("ready", child.says());
            group.delete();
            assertEquals(List.of(), group.processes());
            assertEquals(List.of(), ControlGroup.names(instance));
            Child.await("the end of the storm", () -> !child.isAlive());
        }
    }

    @Test
    void aProcessThatHidesItsNameIsFoundAndEnded() throws IOException {
        group.create(MEMORY, 2);
        var script = JOIN + "printf '\\377) Z' > /proc/$$/comm; echo ready; read line";
        try (var child = new Child(script, entrances())) {
            assertEquals("ready", child.says());
            group.delete();
            Child.await("its end", () -> !child.isAlive());
        }
    }

    @Test
    void moreMemoryThanTheLimitIsNotHad() throws IOException {
        group.create(MEMORY, 2);
        var hog = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}";
        try (var child = new Child("exec 2>/dev/null; " + JOIN + hog, entrances())) {
            assertNull(child.says(), "it had 300 MB within a limit of " + MEMORY);
            Child.await("its end", () -> !child.isAlive());
        }
    }

    /// Microseconds of processor time in each tenth of a second.
    private int cpuQuota() throws IOException {
        var words = read("cpu.cfs_quota_us", "cpu.max").getFirst().split(" ");
        return Integer.parseInt(words[0]);
    }

    private String[] entrances() {
        return group.entrances().stream().map(Path::toString).toArray(String[]::new);
    }

    /// The content of those files that the group has.
    private List<String> read(String... names) throws IOException {
        var found = new java.util.ArrayList<String>();
        for (var entrance : group.entrances()) {
            for (var name : names) {
                if (Files.exists(entrance.resolveSibling(name))) {
                    found.add(Files.readString(entrance.resolveSibling(name)).strip());
                }
            }
        }
        return found;
    }
}
