package coppice.process;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    private static final List<String> V1_CONTROLLERS = List.of("memory", "pids");
    private static final int MAX_TASKS = 512;

    private final List<Path> directories;

    private ControlGroup(List<Path> directories) {
        this.directories = directories;
    }

    /// The group of `name`, whether or not it exists yet.
    public static ControlGroup of(String instance, String name) {
        return new ControlGroup(parents(instance).stream().map(p -> p.resolve(name)).toList());
    }

    /// The names of all groups of an instance.
    public static List<String> names(String instance) {
        var names = new TreeSet<String>();
        for (var parent : parents(instance)) {
            try (var children = Files.newDirectoryStream(parent, Files::isDirectory)) {
                children.forEach(child -> names.add(child.getFileName().toString()));
            } catch (IOException e) {
                // The parent is not there: no VM of this instance ever ran since the machine
                // booted.
            }
        }
        return List.copyOf(names);
    }

    /// Makes the group with its limits.
    public void create(Size memory) {
        try {
            for (var directory : directories) {
                if (isV2()) {
                    delegate(directory.getParent());
                }
                Files.createDirectories(directory);
            }
            write("memory.max", "memory.limit_in_bytes", Long.toString(memory.bytes()));
            write("pids.max", "pids.max", Integer.toString(MAX_TASKS));
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the control group %s could not be made".formatted(directories),
                    e);
        }
    }

    /// The files that a starting process writes its number to, in order to be in the group.
    public List<Path> entrances() {
        return directories.stream().map(d -> d.resolve("cgroup.procs")).toList();
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
        while (Files.isDirectory(directories.getFirst())
                || directories.stream().anyMatch(Files::isDirectory)) {
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
            var file = directory.resolve(isV2() ? v2File : v1File);
            if (Files.exists(file)) {
                Files.writeString(file, value);
            }
        }
    }

    private static List<Path> parents(String instance) {
        if (isV2()) {
            return List.of(ROOT.resolve("coppice").resolve(instance));
        }
        return V1_CONTROLLERS.stream()
                .map(ROOT::resolve)
                .filter(Files::isDirectory)
                .map(controller -> controller.resolve("coppice").resolve(instance))
                .toList();
    }

    /// Lets the children of a v2 group have controllers, from the root down.
    private static void delegate(Path group) {
        try {
            Files.createDirectories(group);
            for (var at = ROOT;
                    !at.equals(group);
                    at = at.resolve(at.relativize(group).getName(0))) {
                Files.writeString(at.resolve("cgroup.subtree_control"), "+memory +pids");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("control groups cannot be delegated below " + ROOT, e);
        }
    }

    private static boolean isV2() {
        return Files.exists(ROOT.resolve("cgroup.controllers"));
    }
}
