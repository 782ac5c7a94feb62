package coppice.process;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// The few system calls that the JDK has no name for, through syscall(2) of the C library. The numbers are those of x86-64.
///
/// A native call holds the carrier of a virtual thread: call from a platform thread.
@SuppressWarnings("restricted") // two functions of libc
public enum SystemCall {
    OPEN(2),
    CLOSE(3),
    IOCTL(16),
    MADVISE(28),
    WAIT4(61),
    KILL(62),
    PTRACE(101),
    TGKILL(234),
    SETNS(308),
    CLONE3(435);

    public static final long EINTR = 4;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL =
            LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow("syscall"),
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    Linker.Option.captureCallState("errno"),
                    Linker.Option.firstVariadicArg(1));
    private static final MethodHandle STRERROR =
            LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow("strerror"),
                    FunctionDescriptor.of(ADDRESS, JAVA_INT));

    private final long number;

    SystemCall(long number) {
        this.number = number;
    }

    long number() {
        return number;
    }

    /// Makes the call. Arguments that are pointers are the addresses of memory that the caller keeps alive.
    ///
    /// @return its result, or the negative number of the error
    public long call(long a, long b, long c, long d) {
        try (var arena = Arena.ofConfined()) {
            var state = arena.allocate(Linker.Option.captureStateLayout());
            long result = (long) SYSCALL.invokeExact(state, number, a, b, c, d);
            return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// What the negative result of a call means, in words.
    public static String message(long result) {
        try {
            return ((MemorySegment) STRERROR.invokeExact((int) -result))
                    .reinterpret(256)
                    .getString(0);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
