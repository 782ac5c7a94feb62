package coppice.disk;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// Copies of files that share their blocks until one side writes: ioctl FICLONE (ioctl_ficlone(2)). Instant whatever the size.
///
/// The calls run on a few platform threads: a native call would hold the carrier of a virtual thread.
@SuppressWarnings("restricted") // the foreign functions are four of libc
public final class Reflink implements AutoCloseable {
    private static final int O_RDONLY = 0;
    private static final int O_RDWR_CREAT_EXCL_CLOEXEC = 2 | 0100 | 0200 | 02000000;
    private static final int O_CLOEXEC = 02000000;
    private static final long FICLONE = 0x40049409L;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final VarHandle ERRNO_VALUE =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle OPEN =
            function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);
    private static final MethodHandle IOCTL =
            function("ioctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT), 2);
    private static final MethodHandle CLOSE =
            function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT), 1);
    private static final MethodHandle STRERROR =
            LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow("strerror"),
                    FunctionDescriptor.of(ADDRESS, JAVA_INT));

    private final ExecutorService threads =
            Executors.newFixedThreadPool(
                    2, Thread.ofPlatform().name("reflink-", 0).daemon().factory());

    private static MethodHandle function(String name, FunctionDescriptor type, int fixed) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                type,
                ERRNO,
                Linker.Option.firstVariadicArg(fixed));
    }

    /// Makes `to` a copy of `from`. `to` must not exist; both are on one file system that can reflink. On failure `to` is not there.
    public void copy(Path from, Path to) {
        try {
            threads.submit(() -> cloneFile(from, to)).get();
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

    private static void cloneFile(Path from, Path to) {
        try (var arena = Arena.ofConfined()) {
            var errno = arena.allocate(Linker.Option.captureStateLayout());
            int source = open(from, O_RDONLY | O_CLOEXEC, arena, errno);
            try {
                int target = open(to, O_RDWR_CREAT_EXCL_CLOEXEC, arena, errno);
                try {
                    check((int) IOCTL.invokeExact(errno, target, FICLONE, source), errno, to);
                } catch (Failure e) {
                    deleteQuietly(to);
                    throw e;
                } finally {
                    close(target, errno);
                }
            } finally {
                close(source, errno);
            }
        } catch (Failure e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int open(Path path, int flags, Arena arena, MemorySegment errno)
            throws Throwable {
        var name = arena.allocateFrom(path.toString());
        return check((int) OPEN.invokeExact(errno, name, flags, 0600), errno, path);
    }

    private static void close(int descriptor, MemorySegment errno) throws Throwable {
        int closed = (int) CLOSE.invokeExact(errno, descriptor);
        assert closed == 0;
    }

    private static int check(int result, MemorySegment errno, Path path) throws Throwable {
        if (result >= 0) {
            return result;
        }
        int number = (int) ERRNO_VALUE.get(errno, 0L);
        var text = ((MemorySegment) STRERROR.invokeExact(number)).reinterpret(256).getString(0);
        throw new Failure(
                Code.UNAVAILABLE, "%s could not be copied by reflink: %s".formatted(path, text));
    }

    @Override
    public void close() {
        threads.close();
    }
}
