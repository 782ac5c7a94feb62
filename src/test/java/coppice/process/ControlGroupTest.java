package coppice.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is written where, in directories that look like control groups. [ControlGroupIT] uses real ones.
class ControlGroupTest {
    private static final Size MEMORY = Size.ofMib(512);

    @TempDir private Path root;

    @Test
    void onTheSecondVersionEveryGroupAboveAVmGivesItsChildrenTheControllers() throws IOException {
        Files.createFile(root.resolve("cgroup.controllers"));
        var vm = files(root.resolve("coppice/test/vm-1"), "memory.max", "pids.max", "cpu.max");
        new ControlGroup(root, "test", "vm-1").create(MEMORY, 2);
        for (var above : List.of("", "coppice", "coppice/test")) {
            assertEquals("+memory +pids +cpu", text(root.resolve(above), "cgroup.subtree_control"));
        }
        assertEquals(false, Files.exists(vm.resolve("cgroup.subtree_control")));
        assertEquals("536870912", text(vm, "memory.max"));
        assertEquals("512", text(vm, "pids.max"));
        assertEquals("250000 100000", text(vm, "cpu.max"));
    }

    @Test
    void onTheFirstVersionEachControllerHasItsOwnGroup() throws IOException {
        var memory = files(root.resolve("memory/coppice/test/vm-1"), "memory.limit_in_bytes");
        var pids = files(root.resolve("pids/coppice/test/vm-1"), "pids.max");
        var cpu = files(root.resolve("cpu/coppice/test/vm-1"), "cpu.cfs_quota_us");
        Files.createDirectories(root.resolve("blkio"));
        var group = new ControlGroup(root, "test", "vm-1");
        group.create(MEMORY, 2);
        assertEquals("536870912", text(memory, "memory.limit_in_bytes"));
        assertEquals("512", text(pids, "pids.max"));
        assertEquals("250000", text(cpu, "cpu.cfs_quota_us"));
        assertEquals(
                List.of(memory, pids, cpu),
                group.entrances().stream().map(Path::getParent).toList());
    }

    @Test
    void aMachineWithoutControllersHasNothingToDelete() {
        var group = new ControlGroup(root, "test", "vm-1");
        group.create(MEMORY, 2);
        group.delete();
        assertEquals(List.of(), group.processes());
    }

    @Test
    void whatTheKernelRefusesIsAFailure() throws IOException {
        Files.createFile(root.resolve("cgroup.controllers"));
        Files.createDirectory(root.resolve("cgroup.subtree_control")); // cannot be written to
        var group = new ControlGroup(root, "test", "vm-1");
        assertEquals(
                Code.UNAVAILABLE,
                assertThrows(Failure.class, () -> group.create(MEMORY, 2)).code());
    }

    private static Path files(Path directory, String... names) throws IOException {
        Files.createDirectories(directory);
        for (var name : names) {
            Files.createFile(directory.resolve(name));
        }
        return directory;
    }

    private static String text(Path directory, String name) throws IOException {
        return Files.readString(directory.resolve(name));
    }
}
