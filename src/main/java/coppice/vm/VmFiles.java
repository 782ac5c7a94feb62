package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.qemu.MachineFiles;
import coppice.qemu.MachineShape;
import coppice.qemu.QemuLauncher;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// Where the files of VMs and snapshots are, and how they come from one to the other. Everything is a plain file: copies are
/// reflinks, so that nothing refers to anything and deleting one thing never touches another.
///
///     vms/VM/             [MachineFiles] of one VM
///     vms/VM/warm         marks a machine of the pool, which is no VM yet
///     vms/VM/pause-UUID/  a [Capture]: the VM's memory, devices and disk while it is paused
///     snapshots/ID/       a [Capture] that VMs are made from
///     uploads/ID          the [Spool] of an upload
final class VmFiles {
    static final List<String> KERNEL = List.of("vmlinuz", "initrd", "command-line");

    private final Path root;
    private final Reflink reflink;

    VmFiles(Path root, Reflink reflink) {
        this.root = root;
        this.reflink = reflink;
    }

    CaptureFiles captures() {
        return new CaptureFiles(this, reflink);
    }

    Path vms() {
        return root.resolve("vms");
    }

    Path snapshots() {
        return root.resolve("snapshots");
    }

    Path uploads() {
        return root.resolve("uploads");
    }

    MachineFiles of(VmId vm) {
        return new MachineFiles(vms().resolve(vm.text()));
    }

    Path snapshot(SnapshotId snapshot) {
        return snapshots().resolve(snapshot.text());
    }

    Path pause(VmId vm, UUID generation) {
        return of(vm).directory().resolve("pause-" + generation);
    }

    /// Makes the directories that hold everything. Other users may pass through `vms`, never through the others.
    void prepare() {
        try {
            Files.createDirectories(vms());
            Files.createDirectories(snapshots());
            Files.createDirectories(uploads());
            Files.setPosixFilePermissions(vms(), PosixFilePermissions.fromString("rwx--x--x"));
            Files.setPosixFilePermissions(
                    snapshots(), PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(uploads(), PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the directories for VMs cannot be made", e);
        }
    }

    /// The directory of a new VM, with its kernel, from a capture.
    void make(VmId vm, int user, Path capture) {
        var files = of(vm);
        try {
            Files.createDirectory(files.directory());
            // The VM's user may enter, no other VM's: the memory images inside are readable by all
            // who can reach them.
            Files.setAttribute(files.directory(), "unix:gid", user);
            Files.setPosixFilePermissions(
                    files.directory(), PosixFilePermissions.fromString("rwx--x---"));
            for (var name : KERNEL) {
                reflink.copy(capture.resolve(name), files.directory().resolve(name));
                publicRead(files.directory().resolve(name));
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the files of %s cannot be made".formatted(vm), e);
        }
    }

    /// Puts the memory, devices and disk of a capture where the VM's machine expects them. The capture stays as it is.
    void unpack(VmId vm, int user, Path capture) {
        var files = of(vm);
        try {
            clearMachine(files);
            Files.createLink(files.ram(), capture.resolve(Capture.RAM));
            reflink.copy(capture.resolve(Capture.DEVICES), files.devices());
            Files.deleteIfExists(files.disk());
            reflink.copy(capture.resolve(Capture.DISK), files.disk());
            QemuLauncher.own(files.disk(), user, "rw-------");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the files of %s cannot be made".formatted(vm), e);
        }
    }

    /// Marks the directory of a machine of the pool, which no VM has yet.
    void markWarm(VmId vm) {
        try {
            Files.createFile(warmMark(of(vm).directory()));
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the files of %s cannot be made".formatted(vm), e);
        }
    }

    void unmarkWarm(VmId vm) {
        Published.delete(warmMark(of(vm).directory()));
    }

    static boolean isWarm(Path directory) {
        return Files.exists(warmMark(directory));
    }

    private static Path warmMark(Path directory) {
        return directory.resolve("warm");
    }

    /// Makes room for a capture that is still being made, for a machine that is started meanwhile: its memory image, which is written
    /// until the capture is complete, and an empty disk and device state, see [#fill].
    void unpackUnfinished(VmId vm, int user, Path capture, Size storage) {
        var files = of(vm);
        try {
            clearMachine(files);
            Files.createLink(files.ram(), capture.resolve(Capture.RAM));
            Files.createFile(files.devices());
            extend(files.disk(), storage);
            QemuLauncher.own(files.disk(), user, "rw-------");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the files of %s cannot be made".formatted(vm), e);
        }
    }

    /// Gives the disk and the device state of a machine that was started before its capture was complete their content.
    void fill(VmId vm, Path capture) {
        reflink.fill(capture.resolve(Capture.DISK), of(vm).disk());
        reflink.fill(capture.resolve(Capture.DEVICES), of(vm).devices());
    }

    /// Gives a new VM, whose directory is there, a copy of the disk of one that is stopped.
    void copyDisk(VmId from, VmId vm, int user) {
        try {
            reflink.copy(of(from).disk(), of(vm).disk());
            QemuLauncher.own(of(vm).disk(), user, "rw-------");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the disk of %s cannot be made".formatted(vm), e);
        }
    }

    /// Has a new VM outlive a power cut: its disk and the names of its files.
    void sync(VmId vm) {
        var files = of(vm);
        try {
            for (var name : KERNEL) {
                Published.sync(files.directory().resolve(name));
            }
            Published.sync(files.disk());
            Published.sync(files.directory());
            Published.sync(vms());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the files of %s cannot be synced".formatted(vm), e);
        }
    }

    /// Gives a VM that is about to boot empty memory.
    void blankMemory(VmId vm, Size memory) {
        var files = of(vm);
        try {
            clearMachine(files);
            zeros(files.ram(), memory);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the memory image of %s cannot be made".formatted(vm), e);
        }
    }

    /// The zeros behind a memory module that is added while the VM runs.
    void blankModule(VmId vm, int index, Size size) {
        try {
            zeros(of(vm).module(index), size);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the memory module of %s cannot be made".formatted(vm), e);
        }
    }

    /// Removes what only a running machine needs: memory image, modules, sockets.
    void clearMachine(MachineFiles files) throws IOException {
        Files.deleteIfExists(files.ram());
        for (int i = 0; i < MachineShape.MEMORY_SLOTS; i++) {
            Files.deleteIfExists(files.module(i));
        }
        Published.delete(files.run());
        Files.createDirectories(files.run());
    }

    /// A paused VM is its capture: what its machine ran on is not needed any more.
    void clearPaused(VmId vm) {
        var files = of(vm);
        try {
            clearMachine(files);
            Files.deleteIfExists(files.disk());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the files of %s cannot be removed".formatted(vm), e);
        }
    }

    /// Removes captures of a VM that do not count: unfinished ones, and the ones it has gone on from.
    void clearPauses(VmId vm, Optional<UUID> except) {
        var kept = except.map(generation -> pause(vm, generation));
        try (var entries = Files.newDirectoryStream(of(vm).directory(), "pause-*")) {
            for (var entry : entries) {
                if (!kept.equals(Optional.of(entry))) {
                    Published.delete(entry);
                }
            }
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "old captures of %s cannot be removed".formatted(vm), e);
        }
    }

    /// Makes the disk of a pause the VM's disk, and drops the pause with its memory. Repeating it finishes it.
    void dropPause(VmId vm, int user, UUID generation) {
        var pause = pause(vm, generation);
        try {
            var disk = pause.resolve(Capture.DISK);
            if (Files.exists(disk)) {
                QemuLauncher.own(disk, user, "rw-------");
                Files.move(disk, of(vm).disk(), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            }
            Published.delete(pause);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the memory of %s cannot be dropped".formatted(vm), e);
        }
    }

    /// Makes a memory image as long as all memory of the machine, modules included.
    static void extend(Path image, Size size) {
        try (var file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(size.bytes());
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the memory image cannot be extended", e);
        }
    }

    void delete(VmId vm) {
        Published.delete(of(vm).directory());
    }

    private static void zeros(Path file, Size size) throws IOException {
        Files.deleteIfExists(file);
        extend(file, size);
        publicRead(file);
    }

    /// Readable by whoever can reach it, writable by nobody: captures are immutable.
    static void publicRead(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
    }
}
