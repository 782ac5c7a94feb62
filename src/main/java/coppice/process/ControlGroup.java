package coppice.process;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// The control group of one VM: it bounds what the VM's processes may use and finds them again after a restart of the server.
///
/// On cgroup v2 there is one directory; on v1 (and in the hybrid layout, where v2 has no controllers) one for each controller.
/// Groups live under `coppice/<instance>/`, where the instance names one data directory, so that servers do not meet.
public final class ControlGroup {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final List<String> V1_CONTROLLERS = List.of("memory", "pids", "cpu");
    private static final int MAX_TASKS = 512;
    private static final int CPU_PERIOD_MICROS = 100_000;

    private static final String DELEGATED = "cgroup.subtree_control";

    private final Path root;
    private final List<Path> directories;

    /// @param root where the kernel shows its control groups
    ControlGroup(Path root, String instance, String name) {
        this.root = root;
        this.directories = parents(root, instance).stream().map(p -> p.resolve(name)).toList();
    }

    /// The group of `name`, whether or not it exists yet.
    public static ControlGroup of(String instance, String name) {
        return new ControlGroup(ROOT, instance, name);
    }

    /// The names of all instances that have or had groups here.
    public static List<String> instances() {
        var names = new TreeSet<String>();
        parents(ROOT, "any").forEach(parent -> names.addAll(children(parent.getParent())));
        return List.copyOf(names);
    }

    /// The names of all groups of an instance.
    public static List<String> names(String instance) {
        var names = new TreeSet<String>();
        parents(ROOT, instance).forEach(parent -> names.addAll(children(parent)));
        return List.copyOf(names);
    }

    private static List<String> children(Path parent) {
        var names = new ArrayList<String>();
        try (var children = Files.newDirectoryStream(parent, Files::isDirectory)) {
            children.forEach(child -> names.add(child.getFileName().toString()));
        } catch (IOException e) {
            // The parent is not there: nothing ever ran here since the machine booted.
        }
        return names;
    }

    /// Removes what is left of an instance when it has no groups any more.
    public static void forget(String instance) {
        for (var parent : parents(ROOT, instance)) {
            try {
                Files.deleteIfExists(parent);
            } catch (IOException e) {
                // It still has groups.
            }
        }
    }

    /// Makes the group with its limits.
    ///
    /// @param cpus as for [#limitCpus]
    public void create(Size memory, int cpus) {
        try {
            for (var directory : directories) {
                if (isV2(root)) {
                    delegate(directory.getParent());
                }
                Files.createDirectories(directory);
            }
            write("memory.max", "memory.limit_in_bytes", Long.toString(memory.bytes()));
            write("pids.max", "pids.max", Integer.toString(MAX_TASKS));
            writeCpuLimit(cpus);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the control group %s could not be made".formatted(directories),
                    e);
        }
    }

    /// Bounds the processor time: that of `cpus` whole processors, and half of one more for the work of the machine itself. A guest that
    /// brings more of its processors online than it was given gets no more time for it.
    public void limitCpus(int cpus) {
        try {
            writeCpuLimit(cpus);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the control group %s cannot be limited".formatted(directories),
                    e);
        }
    }

    private void writeCpuLimit(int cpus) throws IOException {
        int quota = cpus * CPU_PERIOD_MICROS + CPU_PERIOD_MICROS / 2;
        write(
                "cpu.max",
                "cpu.cfs_quota_us",
                isV2(root) ? quota + " " + CPU_PERIOD_MICROS : Integer.toString(quota));
    }

    /// The files that a starting process writes its number to, in order to be in the group.
    public List<Path> entrances() {
        return directories.stream().map(d -> d.resolve("cgroup.procs")).toList();
    }

    /// Whether the process is in the group, under every controller.
    public boolean holds(ProcessId process) {
        var line = Long.toString(process.pid());
        for (var entrance : entrances()) {
            try {
                if (!Files.readAllLines(entrance).contains(line)) {
                    return false;
                }
            } catch (IOException e) {
                return false; // no such group
            }
        }
        return true;
    }

    public List<ProcessId> processes() {
        var pids = new TreeSet<Long>();
        for (var entrance : entrances()) {
            try {
                Files.readAllLines(entrance).forEach(line -> pids.add(Long.valueOf(line)));
            } catch (IOException e) {
                // No such group: no process.
            }
        }
        var found = new ArrayList<ProcessId>();
        pids.forEach(pid -> ProcessId.of(pid).ifPresent(found::add));
        return found;
    }

    /// Ends every process of the group and removes it. Repeating this does nothing.
    public void delete() {
        var deadline = Deadline.in(Duration.ofSeconds(10));
        while (directories.stream().anyMatch(Files::isDirectory)) {
            processes().forEach(ProcessId::kill);
            if (removeEmpty()) {
                return;
            }
            if (deadline.isPast()) {
                throw new Failure(
                        Code.UNAVAILABLE, "processes in %s do not end".formatted(directories));
            }
            try {
                Thread.sleep(Duration.ofMillis(2));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private boolean removeEmpty() {
        boolean all = true;
        for (var directory : directories) {
            try {
                Files.deleteIfExists(directory);
            } catch (IOException e) {
                all = false; // still holds a process that is ending
            }
        }
        return all;
    }

    private void write(String v2File, String v1File, String value) throws IOException {
        for (var directory : directories) {
            var file = directory.resolve(isV2(root) ? v2File : v1File);
            if (Files.exists(file)) {
                Files.writeString(file, value);
            }
        }
    }

    private static List<Path> parents(Path root, String instance) {
        if (isV2(root)) {
            return List.of(root.resolve("coppice").resolve(instance));
        }
        return V1_CONTROLLERS.stream()
                .map(root::resolve)
                .filter(Files::isDirectory)
                .map(controller -> controller.resolve("coppice").resolve(instance))
                .toList();
    }

    /// Lets the children of a v2 group have controllers, from the root down to the parent of the VMs' groups.
    private void delegate(Path group) throws IOException {
        Files.createDirectories(group);
        var at = root;
        Files.writeString(at.resolve(DELEGATED), "+memory +pids +cpu");
        for (var name : root.relativize(group)) {
            at = at.resolve(name);
            Files.writeString(at.resolve(DELEGATED), "+memory +pids +cpu");
        }
    }

    private static boolean isV2(Path root) {
        return Files.exists(root.resolve("cgroup.controllers"));
    }
}
