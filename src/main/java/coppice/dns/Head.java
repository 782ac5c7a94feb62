package coppice.dns;

import java.nio.ByteBuffer;

/// The first twelve bytes of a message. Whether the rest is worth reading is decided from them.
record Head(int id, int flags, int questions, int answers, int authorities, int additionals) {
    static final int LENGTH = 12;

    static final int RESPONSE = 0x8000;
    static final int AUTHORITATIVE = 0x0400;
    static final int TRUNCATED = 0x0200;
    static final int RECURSION_DESIRED = 0x0100;
    static final int RECURSION_AVAILABLE = 0x0080;
    static final int CHECKING_DISABLED = 0x0010;
    static final int OPCODE = 0x7800;
    static final int RCODE = 0x000f;

    /// EDNS and a signature, and one that we do not know.
    private static final int MAX_ADDITIONALS = 3;

    private static final int OPCODE_SHIFT = 11;
    private static final int U16 = 0xffff;

    /// @param message at least so long
    static Head of(byte[] message) {
        var in = ByteBuffer.wrap(message);
        return new Head(u16(in), u16(in), u16(in), u16(in), u16(in), u16(in));
    }

    private static int u16(ByteBuffer in) {
        return in.getShort() & U16;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    int opcode() {
        return (flags & OPCODE) >>> OPCODE_SHIFT;
    }

    /// Whether it counts what a query has. The library makes room for all that is counted before it reads any, and complains of
    /// nothing in a message that says it is truncated.
    boolean isOfQuery() {
        return !has(RESPONSE | TRUNCATED)
                && questions == 1
                && answers == 0
                && authorities <= 1
                && additionals <= MAX_ADDITIONALS;
    }
}
