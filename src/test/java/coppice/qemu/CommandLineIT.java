package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The installed QEMU takes the arguments of the golden files and builds the machine that they mean.
class CommandLineIT {
    @TempDir private Path temporary;

    @BeforeAll
    static void requireQemu() {
        assumeTrue(
                Command.of("sh", "-c", "command -v " + Hypervisor.PROGRAM).run(soon()).status()
                        == 0,
                "skipped: QEMU is not installed");
    }

    static List<Golden> restorable() throws Exception {
        return Golden.all().stream()
                .filter(golden -> golden.start() == CommandLine.Start.RESTORE)
                .filter(golden -> !golden.hypervisor().isKvm())
                .toList();
    }

    private static void quit(Qmp qmp) {
        try {
            qmp.ask("quit", Map.of(), soon());
        } catch (Failure e) {
            assertTrue(
                    e.getMessage().contains("ended during 'quit'"),
                    e.getMessage()); // before its answer reached us
        }
    }

    @ParameterizedTest
    @MethodSource("restorable")
    void qemuBuildsTheMachine(Golden golden) throws Exception {
        var directory = Path.of(golden.input().getOrDefault("directory", "/usual"));
        var files = lay(temporary.resolve(Path.of("/").relativize(directory)), golden);
        var log = temporary.resolve("log");
        var qemu =
                new ProcessBuilder(golden.arguments(files.directory()))
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try (var qmp = Qmp.connect("vm-1", files.qmp(), qemu::isAlive, soon(), _ -> {}, () -> {})) {
            assertBuilt(qmp, golden.shape());
            assertMappedPrivately(qemu.pid(), files.ram().toRealPath());
            quit(qmp);
            assertEquals(0, qemu.waitFor());
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("QEMU said: " + Files.readString(log), e);
        } finally {
            qemu.destroyForcibly();
        }
    }

    private static MachineFiles lay(Path directory, Golden golden) throws IOException {
        var files = new MachineFiles(directory);
        Files.createDirectories(files.run());
        for (var file : List.of(files.ram(), files.disk())) {
            try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(golden.shape().totalMemory().bytes());
            }
        }
        return files;
    }

    private static void assertBuilt(Qmp qmp, MachineShape shape) {
        assertEquals(
                "inmigrate", qmp.ask("query-status", Map.of(), soon()).path("status").asString(""));
        assertEquals(shape.maxCpus(), qmp.ask("query-cpus-fast", Map.of(), soon()).size());
        var memory = qmp.ask("query-memory-size-summary", Map.of(), soon());
        var boot = new Size(memory.path("base-memory").asLong());
        assertEquals(shape.memory(), boot);
        assertEquals(
                shape.totalMemory(), boot.plus(new Size(memory.path("plugged-memory").asLong())));
        var modules = qmp.ask("query-memory-devices", Map.of(), soon());
        assertEquals(shape.addedMemory().size(), modules.size());
    }

    /// Whatever the guest writes, the image that other guests run on stays as it is.
    private static void assertMappedPrivately(long pid, Path ram) throws IOException {
        try (var lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
            var mappings = lines.filter(line -> line.endsWith(" " + ram)).toList();
            assertTrue(
                    !mappings.isEmpty()
                            && mappings.stream().allMatch(line -> line.contains(" rw-p ")),
                    mappings.toString());
        }
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }
}
