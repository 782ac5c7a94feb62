package coppice.guest;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// One frame. `more` says that the fields of an OPEN go on in the next one. The payload is not copied: whoever makes a frame gives it away.
record Frame(FrameKind kind, int channel, boolean more, int stream, byte[] payload) {
    static final int HEADER = 16;
    static final int MAX_PAYLOAD = 16384;
    static final int MAX_BYTES = HEADER + MAX_PAYLOAD;
    static final int MAX_DATA = MAX_PAYLOAD - Long.BYTES;
    static final byte FIRST_BYTE = (byte) 0xC7;

    Frame {
        if (payload.length > MAX_PAYLOAD || channel < 0 || channel > 255) {
            throw new IllegalArgumentException("no such frame");
        }
    }

    static Frame fields(FrameKind kind, int stream, byte[] fields) {
        return new Frame(kind, 0, false, stream, fields);
    }

    /// CREDIT or END: a frame whose payload is one offset.
    static Frame offset(FrameKind kind, int stream, int channel, long offset) {
        return new Frame(
                kind,
                channel,
                false,
                stream,
                ByteBuffer.allocate(Long.BYTES).putLong(offset).array());
    }

    static Frame data(int stream, int channel, long offset, byte[] source, int from, int length) {
        var payload =
                ByteBuffer.allocate(Long.BYTES + length).putLong(offset).put(source, from, length);
        return new Frame(FrameKind.DATA, channel, false, stream, payload.array());
    }

    /// DATA with as many bytes as it can carry, at most `most`, taken out of a ring.
    static Frame data(int stream, int channel, long offset, Ring source, long most) {
        int length = (int) Math.min(Math.min(source.size(), most), MAX_DATA);
        var payload = ByteBuffer.allocate(Long.BYTES + length).putLong(offset).array();
        source.take(payload, Long.BYTES, length);
        return new Frame(FrameKind.DATA, channel, false, stream, payload);
    }

    /// The offset of CREDIT or END.
    long offset() throws ProtocolException {
        if (payload.length != Long.BYTES) {
            throw new ProtocolException(
                    "a frame of kind %s has %d bytes instead of 8".formatted(kind, payload.length));
        }
        return first8();
    }

    /// The offset of DATA, whose bytes follow it.
    long dataOffset() throws ProtocolException {
        if (payload.length <= Long.BYTES) {
            throw new ProtocolException("a DATA frame has no data");
        }
        return first8();
    }

    private long first8() throws ProtocolException {
        long value = ByteBuffer.wrap(payload).getLong();
        if (value < 0) {
            throw new ProtocolException("an offset is beyond 2^63");
        }
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Frame that
                && kind == that.kind
                && channel == that.channel
                && more == that.more
                && stream == that.stream
                && Arrays.equals(payload, that.payload);
    }

    @Override
    public int hashCode() {
        return 31 * stream + Arrays.hashCode(payload);
    }

    @Override
    public String toString() {
        return "%s of stream %d, channel %d, %d bytes"
                .formatted(kind, stream, channel, payload.length);
    }
}
