package coppice.process;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.process.Registers.Name;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// A thread of another process, held still and made to run system calls of ours (ptrace(2), x86-64). Closing it lets the process
/// go on where it was held, as if nothing had been.
///
/// Made, used and closed by one platform thread: the kernel ties a tracee to the thread that seized it, and lets it go when that thread
/// ends, however it ends. The thread is held only inside a system call, which it then repeats or has ended.
///
/// The process must not be a child of this server: its threads share what is waited for, and the JDK waits for every child that it has
/// started.
///
/// Should the tracer die in the middle, the thread makes the system call that it was about to make, and then goes back by itself to where
/// it was, see [SignalReturn].
///
/// System calls are entered by `PTRACE_SYSCALL` and never by `PTRACE_SINGLESTEP`: the trap flag would outlive a dead tracer and kill the
/// process.
public final class Tracee implements AutoCloseable {
    private static final long CONT = 7;
    private static final long CONT_TO_SYSCALL = 24; // PTRACE_SYSCALL
    private static final long GETREGS = 12;
    private static final long SETREGS = 13;
    private static final long DETACH = 17;
    private static final long GETFPREGS = 14;
    private static final long SETOPTIONS = 0x4200;
    private static final long GETEVENTMSG = 0x4201;
    private static final long SEIZE = 0x4206;
    private static final long INTERRUPT = 0x4207;
    private static final long GETSIGMASK = 0x420a;

    private static final long TRACESYSGOOD = 1;
    private static final long TRACEFORK = 1 << 1;
    private static final long TRACECLONE = 1 << 3;
    private static final long EXITKILL = 1 << 20;
    private static final long SUSPEND_SECCOMP = 1 << 21;

    private static final int EVENT_FORK = 1;
    private static final int EVENT_CLONE = 3;
    private static final int EVENT_STOP = 128;
    private static final int SIGTRAP = 5;
    private static final int SIGKILL = 9;
    private static final int SYSCALL_STOP = SIGTRAP | 0x80;

    private static final long WNOHANG = 1;
    private static final long WALL = 0x40000000L;

    /// A struct clone_args (linux/sched.h) of eight numbers: CLONE_PARENT, and a stack of 16 bytes at address 16, where nothing is: should
    /// the child ever run, its first instruction is its last.
    private static final ByteBuffer CHILD = longs(0x8000, 0, 0, 0, 0, 16, 16, 0).asReadOnlyBuffer();

    /// How far below the thread's stack pointer our frame begins, and the arguments in memory behind it: below what the ABI lets a function
    /// keep there. Frames of signals want addresses that are multiples of 64.
    private static final long BELOW_STACK = 4096;

    private static final long ALIGNED = -64;

    /// Waits shorter than this are spun: a sleep takes longer than what is waited for. Each round yields, as the process may have to run
    /// on the very processor that this thread is on.
    private static final long SPIN_NANOS = 2_000_000;

    private static final long NAP_NANOS = 50_000;
    private static final int ATTEMPTS = 1000;

    private static ByteBuffer longs(long... values) {
        var bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(values);
        return bytes;
    }

    /// How system calls are made. Tests have some that end the thread.
    interface Kernel {
        long call(SystemCall call, long a, long b, long c, long d);
    }

    private final ProcessId process;
    private final long thread;
    private final Deadline deadline;
    private final Kernel kernel;
    private final SignalReturn wayBack;
    private final Arena arena = Arena.ofConfined();
    private final Registers before = new Registers(arena);
    private final Registers registers = new Registers(arena);
    private final MemorySegment floating = arena.allocate(SignalReturn.FLOATING_LENGTH, 16);
    private final MemorySegment word = arena.allocate(JAVA_LONG);
    private final List<Integer> signals = new ArrayList<>();
    private boolean isHeld;
    private long child;

    private Tracee(
            ProcessId process,
            long thread,
            SignalReturn wayBack,
            Deadline deadline,
            Kernel kernel) {
        this.process = process;
        this.thread = thread;
        this.wayBack = wayBack;
        this.deadline = deadline;
        this.kernel = kernel;
    }

    /// Holds a thread of a process in the system call that it is in, with its system call filter suspended. The other threads go on.
    ///
    /// @param thread the number that it has in the kernel; the main thread has that of its process
    /// @param wayBack of this process, which takes milliseconds to find
    public static Tracee hold(
            ProcessId process, long thread, SignalReturn wayBack, Deadline deadline) {
        return hold(process, thread, wayBack, deadline, SystemCall::call);
    }

    static Tracee hold(
            ProcessId process,
            long thread,
            SignalReturn wayBack,
            Deadline deadline,
            Kernel kernel) {
        var tracee = new Tracee(process, thread, wayBack, deadline, kernel);
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                tracee.seize();
                if (tracee.isInSystemCall()) {
                    tracee.writeFrame();
                    return tracee;
                }
                tracee.letGo();
                LockSupport.parkNanos(NAP_NANOS);
            }
            throw new Failure(
                    Code.UNAVAILABLE, "process %d is not at rest".formatted(process.pid()));
        } catch (RuntimeException e) {
            tracee.close();
            throw e;
        }
    }

    private void seize() {
        check("seize", SEIZE, 0, TRACESYSGOOD | TRACECLONE | TRACEFORK | SUSPEND_SECCOMP);
        check("interrupt", INTERRUPT, 0, 0);
        awaitStop();
        isHeld = true;
        check("registers", GETREGS, 0, before.address());
    }

    private void awaitStop() {
        while (true) {
            int status = await(thread);
            if (status >> 16 == EVENT_STOP) {
                return;
            }
            // A signal on its way to the process, which is to get it.
            check("pass a signal on", CONT, 0, status >> 8 & 0xff);
        }
    }

    /// Elsewhere it might be in a section that rseq(2) has to begin anew.
    private boolean isInSystemCall() {
        return before.get(Name.ORIG_RAX) >= 0;
    }

    private void writeFrame() {
        check("floating point registers", GETFPREGS, 0, floating.address());
        check("signals", GETSIGMASK, Long.BYTES, word.address());
        var vectors = floating.toArray(JAVA_BYTE);
        write(frame(), wayBack.frame(frame(), before, vectors, word.get(JAVA_LONG, 0)));
    }

    private long frame() {
        return before.get(Name.RSP) - BELOW_STACK & ALIGNED;
    }

    private void write(long address, ByteBuffer bytes) {
        var file = Path.of("/proc/%d/mem".formatted(process.pid()));
        try (var memory = FileChannel.open(file, StandardOpenOption.WRITE)) {
            if (memory.write(bytes, address) != bytes.capacity()) {
                throw new IOException("no stack");
            }
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "process %d cannot be written".formatted(process.pid()), e);
        }
    }

    /// Has the process make a system call.
    ///
    /// @return what it returned, a negative error number included
    public long call(SystemCall wanted, long a, long b, long c) {
        registers.copyFrom(before);
        registers.set(Name.RIP, wayBack.systemCall());
        registers.set(Name.RSP, frame());
        registers.set(Name.RAX, wanted.number());
        registers.set(Name.ORIG_RAX, -1); // else the kernel would repeat the interrupted one
        registers.set(Name.RDI, a);
        registers.set(Name.RSI, b);
        registers.set(Name.RDX, c);
        registers.set(Name.R10, 0);
        registers.set(Name.R8, 0);
        check("set registers", SETREGS, 0, registers.address());
        for (int stops = 0; stops < 2; ) { // at the entry of the call and at its exit
            check("go on", CONT_TO_SYSCALL, 0, 0);
            int status = await(thread);
            int event = status >> 16;
            if (event == EVENT_CLONE || event == EVENT_FORK) {
                check("child", GETEVENTMSG, 0, word.address());
                child = word.get(JAVA_LONG, 0);
            } else if ((status >> 8 & 0xff) == SYSCALL_STOP) {
                stops++;
            } else if (event == 0) {
                signals.add(status >> 8 & 0xff); // its handler must not run on these registers
            }
        }
        check("registers", GETREGS, 0, registers.address());
        return registers.get(Name.RAX);
    }

    /// Has the process make a child that holds its memory of this instant, is stopped, and never runs. When this thread ends, or the whole
    /// server, the child is gone; the process lives on.
    public Frozen fork() {
        long arguments = frame() + SignalReturn.LENGTH;
        write(arguments, CHILD.duplicate());
        // A child of the process's parent, init, which reaps it: the process expects no child to
        // end. And clone3, not clone: if this
        // thread dies now, the process makes the call under its own filter, which says to clone3
        // that there is none (QEMU does that for
        // the C library) and to clone that the process be killed.
        long made = call(SystemCall.CLONE3, arguments, CHILD.capacity(), 0);
        if (made < 0 || child == 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "process %d could not fork: %s"
                            .formatted(process.pid(), SystemCall.message(made)));
        }
        await(child);
        kernel.call(SystemCall.PTRACE, SETOPTIONS, child, 0, EXITKILL);
        return new Frozen(child, kernel);
    }

    /// A child that [#fork] made.
    public static final class Frozen implements AutoCloseable {
        private final long pid;
        private final Kernel kernel;

        private Frozen(long pid, Kernel kernel) {
            this.pid = pid;
            this.kernel = kernel;
        }

        public long pid() {
            return pid;
        }

        /// Ends it. By the thread that made it.
        @Override
        public void close() {
            kernel.call(SystemCall.KILL, pid, SIGKILL, 0, 0);
            // The kernel ends a killed process at once: nothing of it can be waited for for long.
            for (long result = 0; result >= 0 || result == -SystemCall.EINTR; ) {
                result = kernel.call(SystemCall.WAIT4, pid, 0, WALL, 0); // then init may reap it
            }
        }
    }

    private void letGo() {
        if (isHeld) {
            isHeld = false;
            kernel.call(SystemCall.PTRACE, SETREGS, thread, 0, before.address());
            kernel.call(SystemCall.PTRACE, DETACH, thread, 0, 0);
            signals.forEach(
                    signal -> kernel.call(SystemCall.TGKILL, process.pid(), thread, signal, 0));
            signals.clear();
        }
    }

    private int await(long which) {
        long begun = System.nanoTime();
        while (true) {
            word.set(JAVA_INT, 0, 0);
            long found = kernel.call(SystemCall.WAIT4, which, word.address(), WALL | WNOHANG, 0);
            int status = word.get(JAVA_INT, 0);
            if (found == which && (status & 0xff) == 0x7f) {
                return status;
            }
            if (found != 0 && found != -SystemCall.EINTR) {
                throw new Failure(Code.UNAVAILABLE, "process %d has ended".formatted(which));
            }
            if (deadline.isPast()) {
                throw new Failure(
                        Code.UNAVAILABLE, "process %d does not stop in time".formatted(which));
            }
            if (System.nanoTime() - begun < SPIN_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    private void check(String what, long request, long address, long data) {
        long result = kernel.call(SystemCall.PTRACE, request, thread, address, data);
        if (result < 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "process %d cannot be traced (%s): %s"
                            .formatted(process.pid(), what, SystemCall.message(result)));
        }
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            letGo();
            arena.close();
        }
    }
}
