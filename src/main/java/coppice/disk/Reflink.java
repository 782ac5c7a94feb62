package coppice.disk;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.process.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// Copies of files that share their blocks until one side writes: ioctl FICLONE (ioctl_ficlone(2)). Instant whatever the size.
///
/// The calls run on a few platform threads: a native call would hold the carrier of a virtual thread.
public final class Reflink implements AutoCloseable {
    private static final int CLOEXEC = 02000000;
    private static final int O_RDONLY = CLOEXEC;
    private static final int O_WRONLY = CLOEXEC | 1;
    private static final int O_WRONLY_CREAT_EXCL = O_WRONLY | 0100 | 0200;
    private static final long FICLONE = 0x40049409L;

    private final ExecutorService threads =
            Executors.newFixedThreadPool(
                    2, Thread.ofPlatform().name("reflink-", 0).daemon().factory());

    /// Makes `to` a copy of `from`. `to` must not exist; both are on one file system that can reflink. On failure `to` is not there.
    public void copy(Path from, Path to) {
        run(from, () -> cloneFile(from, to, O_WRONLY_CREAT_EXCL));
    }

    /// Gives `to`, which may be open in other processes and stays the same file, the content of `from`. `to` must not be longer.
    public void fill(Path from, Path to) {
        run(from, () -> cloneFile(from, to, O_WRONLY));
    }

    private void run(Path from, Runnable work) {
        try {
            threads.submit(work).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Failure failure
                    ? failure
                    : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while copying " + from, e);
        }
    }

    /// Whether files of this directory can share blocks. Tries it.
    public boolean worksIn(Path directory) {
        var from = directory.resolve(".reflink-probe");
        var to = directory.resolve(".reflink-probe-copy");
        try {
            Files.write(from, new byte[4096]);
            Files.deleteIfExists(to); // of a server that was killed while it tried
            copy(from, to);
            return true;
        } catch (Failure e) {
            return false;
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be written to".formatted(directory), e);
        } finally {
            deleteQuietly(from);
            deleteQuietly(to);
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // A probe left behind does no harm: the next one replaces it.
        }
    }

    private static void cloneFile(Path from, Path to, int flags) {
        try (var arena = Arena.ofConfined()) {
            long source = open(from, O_RDONLY, arena);
            try {
                long target = open(to, flags, arena);
                try {
                    check(SystemCall.IOCTL.call(target, FICLONE, source, 0), to);
                } catch (Failure e) {
                    if (flags == O_WRONLY_CREAT_EXCL) {
                        deleteQuietly(to);
                    }
                    throw e;
                } finally {
                    SystemCall.CLOSE.call(target, 0, 0, 0);
                }
            } finally {
                SystemCall.CLOSE.call(source, 0, 0, 0);
            }
        }
    }

    private static long open(Path path, int flags, Arena arena) {
        var name = arena.allocateFrom(path.toString());
        return check(SystemCall.OPEN.call(name.address(), flags, 0600, 0), path);
    }

    private static long check(long result, Path path) {
        if (result < 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s could not be copied by reflink: %s"
                            .formatted(path, SystemCall.message(result)));
        }
        return result;
    }

    @Override
    public void close() {
        threads.close();
    }
}
