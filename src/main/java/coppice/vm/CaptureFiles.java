package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.disk.Reflink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/// How the files of a [Capture] come together: in a directory beside its place, which is renamed into place when it is complete and would
/// last through a power cut.
final class CaptureFiles {
    private final VmFiles files;
    private final Reflink reflink;

    CaptureFiles(VmFiles files, Reflink reflink) {
        this.files = files;
        this.reflink = reflink;
    }

    /// Begins a capture of a machine in a directory beside its place: everything that can be done before the machine is stopped. What
    /// its disk has in the host's memory is written out, so that the copy of the disk need not wait for it.
    ///
    /// @param memory of the machine, modules included
    void begin(VmId vm, Size memory, Path unfinished) {
        var machine = files.of(vm);
        try {
            makeDirectory(unfinished);
            reflink.copy(machine.ram(), unfinished.resolve(Capture.RAM));
            VmFiles.extend(unfinished.resolve(Capture.RAM), memory);
            VmFiles.publicRead(unfinished.resolve(Capture.RAM)); // root writes to it all the same
            for (var name : VmFiles.KERNEL) {
                reflink.copy(machine.directory().resolve(name), unfinished.resolve(name));
            }
            Published.sync(machine.disk());
            empty(machine.devices());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the capture of %s cannot be begun".formatted(vm), e);
        }
    }

    /// Lets go of the device state of the capture before. XFS writes a file out when it is closed after it was cut shorter (the flag
    /// XFS_ITRUNCATED), which QEMU would have to wait for while the guest is stopped: 100 ms where blocks are being freed.
    private static void empty(Path devices) throws IOException {
        Files.newByteChannel(
                        devices,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        LinkOption.NOFOLLOW_LINKS)
                .close();
    }

    /// Takes the disk of a stopped machine into its unfinished capture.
    void takeDisk(VmId vm, Path unfinished) {
        reflink.copy(files.of(vm).disk(), unfinished.resolve(Capture.DISK));
    }

    /// Takes the device state that a machine has written into its unfinished capture.
    void takeDevices(VmId vm, Path unfinished) {
        reflink.copy(files.of(vm).devices(), unfinished.resolve(Capture.DEVICES));
    }

    /// Makes a capture out of another one, which stays.
    void copy(Path capture, Path unfinished, Path place) {
        try {
            makeDirectory(unfinished);
            for (var name : Capture.FILES) {
                if (name.equals(Capture.RAM)) { // immutable, and shared in the host's memory
                    Files.createLink(unfinished.resolve(name), capture.resolve(name));
                } else {
                    reflink.copy(capture.resolve(name), unfinished.resolve(name));
                    VmFiles.publicRead(unfinished.resolve(name));
                }
            }
            Capture.read(unfinished).bind(unfinished);
            Published.directory(unfinished, place);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the capture cannot be copied: " + e.getMessage(), e);
        }
    }

    private static void makeDirectory(Path unfinished) throws IOException {
        Published.delete(unfinished);
        Files.createDirectory(
                unfinished,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    /// Completes a capture: description, permissions, and the rename that makes it count.
    void finish(Capture capture, Path unfinished, Path place) {
        try {
            capture.write(unfinished);
            capture.bind(unfinished);
            for (var name : Capture.FILES) {
                VmFiles.publicRead(unfinished.resolve(name));
            }
            Published.directory(unfinished, place);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the capture cannot be finished: " + e.getMessage(), e);
        }
    }
}
