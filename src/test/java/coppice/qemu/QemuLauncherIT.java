package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.base.Size;
import coppice.process.Command;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is left of a machine that cannot be started. Those that can be are tested with a guest.
class QemuLauncherIT {
    private static final Size MEMORY = Size.ofMib(128);
    private static final int USER = 69_321;

    private final String instance = RandomText.id("test-");
    @TempDir private Path temporary;
    private QemuLauncher launcher;
    private QemuLauncher.Machine machine;

    @BeforeEach
    void lay() throws IOException {
        assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "skipped: starting a QEMU as another user needs root");
        assumeTrue(
                Command.of("sh", "-c", "command -v " + Hypervisor.PROGRAM).run(soon()).status()
                        == 0,
                "skipped: QEMU is not installed");
        launcher = new QemuLauncher(Hypervisor.find(), instance);
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwx--x--x"));
        var files = new MachineFiles(Files.createDirectory(temporary.resolve("vm-1")));
        Files.createDirectory(files.run());
        for (var file : List.of(files.ram(), files.disk())) {
            try (var made = new RandomAccessFile(file.toFile(), "rw")) {
                made.setLength(MEMORY.bytes());
            }
            QemuLauncher.own(file, USER, "rw-------");
        }
        for (var file : List.of(files.kernel(), files.initrd(), files.devices())) {
            Files.writeString(file, "garbage");
        }
        Files.writeString(files.kernelCommandLine(), "quiet\n");
        var shape = new MachineShape(1, 1, MEMORY, List.of(), MEMORY, false);
        machine = new QemuLauncher.Machine("vm-1", shape, files, USER, Optional.empty());
    }

    @AfterEach
    void cleanUp() throws IOException {
        if (launcher != null) {
            launcher.sweep("vm-1");
            for (var entrance : ControlGroup.of(instance, "vm-1").entrances()) {
                Files.deleteIfExists(entrance.getParent().getParent());
            }
        }
    }

    @Test
    void aDeviceStateThatIsGarbageFailsTheRestoreAndLeavesNoProcess() {
        var qemu = launcher.expect(machine, _ -> {}, soon());
        var failure = assertThrows(Failure.class, () -> qemu.load(soon()));
        assertFalse(failure.getMessage().isBlank());
        qemu.kill();
        assertNothingRuns();
    }

    @Test
    void aKernelThatIsGarbageFailsTheBootInTheWordsOfQemu() {
        var deadline = soon();
        var failure = assertThrows(Failure.class, () -> launcher.boot(machine, _ -> {}, deadline));
        assertTrue(failure.getMessage().contains("kernel"), failure.getMessage());
        assertFalse(deadline.isPast());
        assertNothingRuns();
    }

    @Test
    void aDirectoryThatItsUserCannotEnterFailsTheStartAndLeavesNoProcess() throws IOException {
        Files.setPosixFilePermissions(
                machine.files().directory(), PosixFilePermissions.fromString("rwx------"));
        var failure = assertThrows(Failure.class, () -> launcher.expect(machine, _ -> {}, soon()));
        assertTrue(failure.getMessage().contains("Permission denied"), failure.getMessage());
        assertNothingRuns();
    }

    private void assertNothingRuns() {
        HostileQmpTest.await(
                "the end of all processes",
                () -> launcher.names().isEmpty() && launcher.processes("vm-1").isEmpty());
        assertEquals(List.of(), ControlGroup.names(instance));
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }
}
