package coppice.vm;

import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.fabric.Fabric;
import coppice.network.Networks;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// What this host has of VMs and no VM of the store owns: processes, control groups, directories. There should be nothing; a server that
/// starts removes what there is.
public final class Strangers {
    /// A capture takes less time than this.
    private static final java.time.Duration CAPTURE = java.time.Duration.ofMinutes(15);

    private final Store store;
    private final VmRecords records;
    private final SnapshotRecords snapshots;
    private final UploadRecords uploads;
    private final VmFiles files;
    private final QemuLauncher launcher;

    /// @param root as in [Vms.Host]
    public Strangers(Store store, Path root, Reflink reflink, QemuLauncher launcher) {
        this(
                store,
                new VmRecords(store),
                new SnapshotRecords(store),
                new UploadRecords(store),
                new VmFiles(root, reflink),
                launcher);
    }

    Strangers(
            Store store,
            VmRecords records,
            SnapshotRecords snapshots,
            UploadRecords uploads,
            VmFiles files,
            QemuLauncher launcher) {
        this.store = store;
        this.records = records;
        this.snapshots = snapshots;
        this.uploads = uploads;
        this.files = files;
        this.launcher = launcher;
    }

    /// Says what there is, and changes nothing.
    ///
    /// @param isServed whether a server of this store runs: what it is about to make is no stranger
    public List<String> find(boolean isServed) {
        var known = known();
        if (isServed) {
            entries(files.vms()).stream()
                    .filter(VmFiles::isWarm)
                    .forEach(warm -> known.add(warm.getFileName().toString()));
        }
        var found = new ArrayList<String>();
        strangeGroups(known)
                .forEach(
                        name ->
                                found.add(
                                        "control group %s, processes %s"
                                                .formatted(name, launcher.processes(name))));
        strangeDirectories(known, isServed).forEach(path -> found.add("directory " + path));
        found.addAll(strayProcesses(known));
        found.addAll(strangeNetworks(known));
        return found;
    }

    /// Removes what there is.
    ///
    /// @return what it was
    List<String> sweep() {
        var found = find(false);
        var known = known();
        strangeGroups(known).forEach(launcher::sweep);
        strangeDirectories(known, false).forEach(Published::delete);
        return found;
    }

    private List<String> strangeGroups(Set<String> known) {
        return launcher.names().stream().filter(name -> !known.contains(name)).toList();
    }

    private List<Path> strangeDirectories(Set<String> known, boolean isServed) {
        var found = new ArrayList<Path>();
        entries(files.vms()).stream()
                .filter(path -> !known.contains(path.getFileName().toString()))
                .forEach(found::add);
        var kept = snapshots.ids();
        entries(files.snapshots()).stream()
                .filter(path -> !isSnapshot(path.getFileName().toString(), kept))
                .filter(path -> !isServed || isOld(path))
                .forEach(found::add);
        var spooled = uploads.ids();
        entries(files.uploads()).stream()
                .filter(path -> !spooled.contains(path.getFileName().toString()))
                .filter(path -> !isServed || isOld(path))
                .forEach(found::add);
        return found;
    }

    private List<String> strangeNetworks(Set<String> known) {
        var networks = Networks.idsIn(store);
        return Fabric.places(launcher.instance()).stream()
                .filter(place -> !known.contains(place) && !networks.contains(place))
                .map(place -> "network of " + place)
                .toList();
    }

    /// A capture that is being made has no row yet.
    private static boolean isOld(Path directory) {
        try {
            var changed = Files.getLastModifiedTime(directory).toInstant();
            return changed.isBefore(java.time.Instant.now().minus(CAPTURE));
        } catch (IOException e) {
            return false; // it has just been published or removed
        }
    }

    private static boolean isSnapshot(String name, Set<SnapshotId> kept) {
        return SnapshotId.isId(name) && kept.contains(new SnapshotId(name));
    }

    /// QEMUs on our files that are in no control group of ours: nobody would end them.
    private List<String> strayProcesses(Set<String> known) {
        var held =
                known.stream()
                        .flatMap(name -> launcher.processes(name).stream())
                        .map(process -> process.pid())
                        .collect(Collectors.toSet());
        var mine = files.vms().toString() + "/";
        return ProcessHandle.allProcesses()
                .filter(process -> !held.contains(process.pid()))
                .filter(process -> isQemuOn(mine, commandLine(process)))
                .map(process -> "process %d".formatted(process.pid()))
                .toList();
    }

    private static boolean isQemuOn(String files, String commandLine) {
        return commandLine.startsWith(coppice.qemu.Hypervisor.PROGRAM)
                && commandLine.contains(files);
    }

    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "cmdline"),
                    java.nio.charset.StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // it has just ended
        }
    }

    private Set<String> known() {
        return records.all().stream().map(vm -> vm.id().text()).collect(Collectors.toSet());
    }

    private static List<Path> entries(Path directory) {
        try (var entries = Files.list(directory)) {
            return entries.toList();
        } catch (IOException e) {
            return List.of(); // nothing was ever made there
        }
    }
}
