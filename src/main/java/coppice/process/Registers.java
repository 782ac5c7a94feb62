package coppice.process;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The registers of a thread as ptrace(2) gives and takes them: user_regs_struct of sys/user.h, x86-64.
final class Registers {
    private static final int COUNT = 27;

    private final MemorySegment values;

    /// The names are those of the structure, in its order.
    enum Name {
        R15,
        R14,
        R13,
        R12,
        RBP,
        RBX,
        R11,
        R10,
        R9,
        R8,
        RAX,
        RCX,
        RDX,
        RSI,
        RDI,
        ORIG_RAX,
        RIP,
        CS,
        EFLAGS,
        RSP,
        SS
    }

    Registers(Arena arena) {
        values = arena.allocate(JAVA_LONG, COUNT);
    }

    long address() {
        return values.address();
    }

    long get(Name name) {
        return values.getAtIndex(JAVA_LONG, name.ordinal());
    }

    void set(Name name, long value) {
        values.setAtIndex(JAVA_LONG, name.ordinal(), value);
    }

    void copyFrom(Registers others) {
        values.copyFrom(others.values);
    }
}
