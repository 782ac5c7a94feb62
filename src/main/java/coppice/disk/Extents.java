package coppice.disk;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/// Tells which blocks of a file are its own: ioctl FS_IOC_FIEMAP (Documentation/filesystems/fiemap.rst of Linux).
///
/// What a guest has written and its host has not yet written out may still count as shared. A native call holds the carrier of a
/// virtual thread: call from a platform thread.
public final class Extents {
    private static final int RDONLY_NONBLOCK_NOFOLLOW_CLOEXEC = 04000 | 0400000 | 02000000;
    private static final long FS_IOC_FIEMAP = 0xC020660BL;

    private Extents() {}

    /// What a regular file takes; nothing when it is not there. A file with further names is shared as a whole.
    ///
    /// @return empty when the deadline came first: a file can have millions of extents
    public static Optional<DiskUse> of(Path file, Deadline deadline) {
        try (var arena = Arena.ofConfined()) {
            var use = read(file, deadline, arena);
            return use.isPresent() && hasOtherNames(file)
                    ? use.map(u -> new DiskUse(new Size(0), u.own().plus(u.shared())))
                    : use;
        } catch (IOException e) {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.of(DiskUse.NONE);
            }
            throw new Failure(Code.UNAVAILABLE, "%s cannot be looked at".formatted(file), e);
        }
    }

    private static boolean hasOtherNames(Path file) throws IOException {
        return (int) Files.getAttribute(file, "unix:nlink") > 1;
    }

    private static Optional<DiskUse> read(Path file, Deadline deadline, Arena arena)
            throws IOException {
        var name = arena.allocateFrom(file.toString());
        long descriptor =
                SystemCall.OPEN.call(name.address(), RDONLY_NONBLOCK_NOFOLLOW_CLOEXEC, 0, 0);
        check(descriptor, file);
        try {
            var page = arena.allocate(FiemapPage.BYTES, Long.BYTES);
            var use = DiskUse.NONE;
            long start = 0;
            while (!deadline.isPast()) {
                FiemapPage.ask(page, start);
                check(SystemCall.IOCTL.call(descriptor, FS_IOC_FIEMAP, page.address(), 0), file);
                var read = FiemapPage.read(page);
                use = use.plus(read.use());
                if (read.isLast()) {
                    return Optional.of(use);
                }
                start = read.next();
            }
            return Optional.empty();
        } finally {
            SystemCall.CLOSE.call(descriptor, 0, 0, 0);
        }
    }

    private static void check(long result, Path file) throws IOException {
        if (result < 0) {
            throw new IOException("%s: %s".formatted(file, SystemCall.message(result)));
        }
    }
}
