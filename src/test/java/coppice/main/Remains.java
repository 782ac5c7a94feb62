package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/// What this host has of an installation: processes, control groups, files, mounts.
final class Remains {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Installation installation;
    private final String instance;

    Remains(Installation installation) {
        this.installation = installation;
        this.instance = DataLock.instance(installation.data());
    }

    Path vms() {
        return installation.data().resolve("volume/vms");
    }

    Path snapshots() {
        return installation.data().resolve("volume/snapshots");
    }

    /// The processes of a VM: its QEMU and, for a while, the twin of it.
    List<Long> processes(String vm) {
        return ControlGroup.of(instance, vm).processes().stream().map(p -> p.pid()).toList();
    }

    /// Every process that was started on files of VMs, in whatever control group.
    List<Long> qemus() {
        var files = vms() + "/";
        return ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> read(pid, "cmdline").startsWith("qemu-system"))
                .filter(pid -> read(pid, "cmdline").contains(files))
                .toList();
    }

    /// The processes that are twins: the second one of a session, or one that somebody traces.
    List<Long> twins() {
        var sessions = new TreeSet<String>();
        var twins = new ArrayList<Long>();
        for (long pid : qemus()) {
            var stat = read(pid, "stat");
            var fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
            if (fields.length > 3 && (fields[0].equals("t") || !sessions.add(fields[3]))) {
                twins.add(pid);
            }
        }
        return twins;
    }

    private static String read(long pid, String file) {
        try {
            return Files.readString(
                    Path.of("/proc", Long.toString(pid), file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // it has just ended
        }
    }

    static Set<String> entries(Path directory) {
        try (var entries = Files.list(directory)) {
            var names = new TreeSet<String>();
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
            return names;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Fails unless there are exactly the files of these VMs and snapshots, no capture that is unfinished, and no twin.
    void require(Set<String> vmIds, Set<String> snapshotIds) {
        await(List.of(), this::twins, "twins");
        await(new TreeSet<>(vmIds), () -> entries(vms()), "directories of VMs");
        await(new TreeSet<>(snapshotIds), () -> entries(snapshots()), "snapshots");
        for (var vm : vmIds) {
            assertTrue(
                    entries(vms().resolve(vm)).stream().noneMatch(name -> name.endsWith(".tmp")),
                    () -> "unfinished: " + entries(vms().resolve(vm)));
        }
    }

    /// Fails when anything but these snapshots is left.
    void requireNothingBut(Set<String> snapshotIds) throws IOException {
        require(Set.of(), snapshotIds);
        await(List.of(), this::qemus, "processes");
        assertEquals(List.of(), ControlGroup.names(instance), "control groups");
        try (var mounts = Files.lines(Path.of("/proc/mounts"))) {
            var data = installation.data().toString();
            var volume = installation.data().resolve("volume").toString();
            assertEquals(
                    List.of(),
                    mounts.map(line -> line.split(" ")[1])
                            .filter(point -> point.startsWith(data) && !point.equals(volume))
                            .toList(),
                    "mounts");
        }
        var doctor = installation.tryProgram("doctor").output();
        assertTrue(doctor.lines().anyMatch(line -> line.matches("orphans +ok +none")), doctor);
    }

    private static <T> void await(T expected, Supplier<T> found, String what) {
        var deadline = Deadline.in(PATIENCE);
        while (!expected.equals(found.get()) && !deadline.isPast()) {
            Wait.moment();
        }
        assertEquals(expected, found.get(), what);
    }
}
