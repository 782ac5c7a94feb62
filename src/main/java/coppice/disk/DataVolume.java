package coppice.disk;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// The file system that all machines live on. It must be able to share blocks between files (XFS or Btrfs).
///
/// Where the data directory's own file system can, it is used. Where it cannot (ext4), a sparse XFS image in the data directory is
/// mounted by a loop device. The image is never larger than the space that is free when it is made, since a loop-mounted file
/// system whose backing file cannot grow fails hard.
public final class DataVolume {
    private static final Size RESERVE = Size.ofMib(2048);
    private static final Size LEAST = Size.ofMib(4096);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path root;

    private DataVolume(Path root) {
        this.root = root;
    }

    /// Makes what is missing and mounts what is not mounted; repeating it changes nothing.
    ///
    /// @param dataDirectory absolute
    /// @param size the size of the image when one is needed, or nothing for most of the free space
    public static DataVolume prepare(
            Path dataDirectory, java.util.Optional<Size> size, Reflink reflink) {
        var root = dataDirectory.resolve("volume");
        var image = dataDirectory.resolve("volume.xfs");
        try {
            Files.createDirectories(root);
            allowTraversal(dataDirectory);
            if (!Files.exists(image) && reflink.worksIn(root)) {
                return new DataVolume(root);
            }
            if (!isMountPoint(root)) {
                if (!Files.exists(image)) {
                    make(image, size.orElseGet(() -> affordable(dataDirectory)));
                }
                run("mount", "-o", "loop,noatime,discard", image.toString(), root.toString());
                readPastPageCache(root);
            }
            allowTraversal(root);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the data directory %s cannot be prepared".formatted(dataDirectory),
                    e);
        }
        if (!reflink.worksIn(root)) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s is on a file system without reflink; use XFS or Btrfs for the data directory"
                            .formatted(root));
        }
        return new DataVolume(root);
    }

    /// Unmounts the volume of a data directory, if it is mounted. Fails while machines use it.
    public static void unmount(Path dataDirectory) {
        var root = dataDirectory.resolve("volume");
        try {
            if (isMountPoint(root)) {
                run("umount", root.toString());
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be unmounted".formatted(root), e);
        }
    }

    public Path root() {
        return root;
    }

    /// What is left for new data.
    public Size free() {
        try {
            return new Size(Files.getFileStore(root).getUsableSpace());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the free space of %s cannot be read".formatted(root), e);
        }
    }

    private static void make(Path image, Size size) throws IOException {
        if (size.compareTo(LEAST) < 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s needs %s of free space and has less; free some or choose another data directory"
                            .formatted(image.getParent(), LEAST));
        }
        var free = new Size(Files.getFileStore(image.getParent()).getUsableSpace());
        if (size.compareTo(free) > 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the data volume is to have %s and %s has only %s of free space; choose a smaller size or another data directory"
                            .formatted(size, image.getParent(), free));
        }
        var unfinished = Published.unfinished(image);
        try (var file = new RandomAccessFile(unfinished.toFile(), "rw")) {
            file.setLength(size.bytes());
        }
        // Every disk and memory image is in it: nobody but root may read it past the permissions
        // inside.
        Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rw-------"));
        run("mkfs.xfs", "-q", "-f", "-m", "reflink=1", unfinished.toString());
        Published.sync(unfinished);
        Files.move(unfinished, image);
        Published.sync(image.getParent());
    }

    private static Size affordable(Path directory) {
        try {
            var free = Files.getFileStore(directory).getUsableSpace();
            return new Size(Math.max(0, free - RESERVE.bytes()) / 10 * 9);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the free space of %s cannot be read".formatted(directory),
                    e);
        }
    }

    /// Guest memory and disks would else be cached twice: in the volume and again in its image file.
    private static void readPastPageCache(Path root) {
        var device = run("findmnt", "-n", "-o", "SOURCE", root.toString()).strip();
        coppice.process.Command.of("losetup", "--direct-io=on", device).run(Deadline.in(PATIENCE));
    }

    /// QEMU processes run as other users: they must be able to pass, not to look around.
    private static void allowTraversal(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    }

    private static boolean isMountPoint(Path path) throws IOException {
        return Files.exists(path)
                && !Files.getAttribute(path, "unix:dev")
                        .equals(Files.getAttribute(path.getParent(), "unix:dev"));
    }

    private static String run(String... line) {
        return new coppice.process.Command(List.of(line)).runOrFail(Deadline.in(PATIENCE));
    }
}
