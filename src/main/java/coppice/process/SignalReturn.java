package coppice.process;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.process.Registers.Name;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/// The way back for a thread that makes a system call of ours when nobody is there to lead it back: it returns as from the handler of a
/// signal. Behind the system call it finds an address and a frame of rt_sigreturn(2) on its stack; the kernel takes from the frame what
/// the thread was.
///
/// To the thread it is as if a signal had come whose handler has SA_RESTART (signal(7)): the system call that it waited in is made again,
/// or ends with EINTR where a handler would have ended it.
///
/// @param systemCall where in the process a `syscall; ret` is
/// @param restorer where the C library's rt_sigreturn is, which it gives to the kernel for its handlers to return to
public record SignalReturn(long systemCall, long restorer) {
    private static final String LIBRARY = "/libc.so.";
    private static final byte[] SYSCALL_RET = {0x0f, 0x05, (byte) 0xc3};
    private static final byte[] RESTORER = {
        0x48, (byte) 0xc7, (byte) 0xc0, 15, 0, 0, 0, 0x0f, 0x05
    };
    private static final int CHUNK = 1 << 16;

    private static final int SYSCALL_LENGTH = 2;

    // Results by which the kernel marks a system call that a signal interrupts,
    // include/linux/errno.h.
    private static final long ERESTARTSYS = -512;
    private static final long ERESTARTNOINTR = -513;
    private static final long ERESTARTNOHAND = -514;
    private static final long ERESTART_RESTARTBLOCK = -516;

    // The frame: struct rt_sigframe, ucontext and sigcontext of the kernel's arch/x86 headers.
    private static final int FLAGS = 8;
    private static final long STRICT_SS = 6; // UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS
    private static final int STACK_FLAGS = 32;
    private static final int UNKNOWN_STACK = 4; // the kernel then leaves sigaltstack(2) as it is
    private static final int CONTEXT = 48;
    private static final Name[] IN_CONTEXT = {
        Name.R8, Name.R9, Name.R10, Name.R11, Name.R12, Name.R13, Name.R14, Name.R15, Name.RDI,
        Name.RSI, Name.RBP, Name.RBX, Name.RDX, Name.RAX, Name.RCX, Name.RSP, Name.RIP, Name.EFLAGS
    };
    private static final int CONTEXT_RAX = CONTEXT + 13 * 8;
    private static final int CONTEXT_RIP = CONTEXT + 16 * 8;
    private static final int CS = CONTEXT + 144;
    private static final int SS = CONTEXT + 150;
    private static final int FLOATING_POINTER = CONTEXT + 184;
    private static final int SIGNAL_MASK = CONTEXT + 256;
    private static final int FLOATING = 512; // a multiple of 64, as the frame is

    /// Of user_fpregs_struct: what FXSAVE writes, of which the last bytes are the kernel's.
    static final int FLOATING_LENGTH = 512;

    private static final int FLOATING_USED = 464;

    /// Of a whole frame.
    static final int LENGTH = FLOATING + FLOATING_LENGTH;

    /// Looks through the C library that the process has in its memory: the file may be another one by now. Takes some milliseconds.
    public static SignalReturn of(ProcessId process) {
        var proc = Path.of("/proc", Long.toString(process.pid()));
        try (var memory = FileChannel.open(proc.resolve("mem"), StandardOpenOption.READ)) {
            var code =
                    Files.readAllLines(proc.resolve("maps"), StandardCharsets.ISO_8859_1).stream()
                            .map(line -> line.split(" +", 6))
                            .filter(fields -> fields.length == 6 && fields[5].contains(LIBRARY))
                            .filter(fields -> fields[1].startsWith("r-x"))
                            .map(fields -> fields[0].split("-"))
                            .findFirst()
                            .orElseThrow(() -> new EOFException("no C library"));
            return search(
                    memory,
                    Long.parseUnsignedLong(code[0], 16),
                    Long.parseUnsignedLong(code[1], 16));
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "process %d cannot be traced: %s".formatted(process.pid(), e.getMessage()),
                    e);
        }
    }

    private static SignalReturn search(FileChannel memory, long start, long end)
            throws IOException {
        long call = 0;
        long restorer = 0;
        var bytes = new byte[CHUNK];
        // Chunks overlap: what is looked for may stand across their border.
        for (long at = start; at < end; at += CHUNK - RESTORER.length) {
            int length =
                    memory.read(ByteBuffer.wrap(bytes, 0, (int) Math.min(CHUNK, end - at)), at);
            if (call == 0 && find(bytes, length, SYSCALL_RET) >= 0) {
                call = at + find(bytes, length, SYSCALL_RET);
            }
            if (restorer == 0 && find(bytes, length, RESTORER) >= 0) {
                restorer = at + find(bytes, length, RESTORER);
            }
            if (call != 0 && restorer != 0) {
                return new SignalReturn(call, restorer);
            }
        }
        throw new EOFException("its C library is not as expected");
    }

    private static int find(byte[] bytes, int length, byte[] wanted) {
        for (int i = 0; i + wanted.length <= length; i++) {
            if (bytes[i] == wanted[0]
                    && Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
    }

    /// The frame that brings a thread back to where it was.
    ///
    /// @param address where it will stand, a multiple of 64; the stack pointer for the system call
    /// @param before the thread's registers
    /// @param floating those of floating point and vectors, 16 bytes of each: code with longer ones alive does not enter the kernel by
    ///     itself
    /// @param mask the signals that it blocks
    ByteBuffer frame(long address, Registers before, byte[] floating, long mask) {
        var frame = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        frame.putLong(0, restorer);
        frame.putLong(FLAGS, STRICT_SS);
        frame.putInt(STACK_FLAGS, UNKNOWN_STACK);
        for (int i = 0; i < IN_CONTEXT.length; i++) {
            frame.putLong(CONTEXT + i * Long.BYTES, before.get(IN_CONTEXT[i]));
        }
        frame.putShort(CS, (short) before.get(Name.CS));
        frame.putShort(SS, (short) before.get(Name.SS));
        frame.putLong(FLOATING_POINTER, address + FLOATING);
        frame.putLong(SIGNAL_MASK, mask);
        frame.put(FLOATING, floating, 0, FLOATING_USED);
        long result = before.get(Name.RAX);
        if (result == ERESTARTSYS || result == ERESTARTNOINTR) {
            frame.putLong(CONTEXT_RAX, before.get(Name.ORIG_RAX));
            frame.putLong(CONTEXT_RIP, before.get(Name.RIP) - SYSCALL_LENGTH);
        } else if (result == ERESTARTNOHAND || result == ERESTART_RESTARTBLOCK) {
            frame.putLong(CONTEXT_RAX, -SystemCall.EINTR);
        }
        return frame;
    }
}
