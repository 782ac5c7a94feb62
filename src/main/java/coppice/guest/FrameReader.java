package coppice.guest;

import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Optional;
import java.util.zip.CRC32C;

/// Takes frames off a channel in blocking mode. Whatever is not a frame is a [ProtocolException], after which the reader is of no more use.
/// Never holds more than its buffer, whatever length the other end claims.
final class FrameReader {
    /// Room for two frames and a bit: each call of the channel costs more than a frame's bytes do.
    private static final int BUFFER = 36 << 10;

    private final ReadableByteChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).limit(0);
    private final CRC32C crc = new CRC32C();

    FrameReader(ReadableByteChannel channel) {
        this.channel = channel;
    }

    /// The next frame of a known kind; empty when the channel ended between two frames.
    Optional<Frame> next() throws IOException {
        while (has(Frame.HEADER)) {
            int start = buffer.position();
            if (buffer.get(start) != Frame.FIRST_BYTE) {
                throw new ProtocolException("a frame does not start with 0xC7");
            }
            int length = buffer.getInt(start + 8);
            if (length < 0 || length > Frame.MAX_PAYLOAD) {
                throw new ProtocolException(
                        "a frame claims %s bytes".formatted(Integer.toUnsignedString(length)));
            }
            has(Frame.HEADER + length);
            var frame = take(length);
            if (frame.isPresent()) {
                return frame;
            }
        }
        return Optional.empty();
    }

    /// Drops bytes up to and with the first `mark`, at most `limit` of them before it.
    void skipPast(byte[] mark, int limit) throws IOException {
        long dropped = 0;
        var marked = ByteBuffer.wrap(mark);
        while (has(mark.length)) {
            for (; buffer.remaining() >= mark.length; dropped++) {
                int at = buffer.position();
                if (buffer.slice(at, mark.length).equals(marked)) {
                    buffer.position(at + mark.length);
                    return;
                }
                if (dropped == limit) {
                    throw new ProtocolException(
                            "%d bytes came without the start of a connection".formatted(limit));
                }
                buffer.position(at + 1);
            }
        }
        throw new ProtocolException("the channel ended before the connection began");
    }

    /// Empty if the kind is unknown.
    private Optional<Frame> take(int length) throws ProtocolException {
        int start = buffer.position();
        crc.reset();
        crc.update(buffer.slice(start, 12));
        crc.update(buffer.slice(start + Frame.HEADER, length));
        if ((int) crc.getValue() != buffer.getInt(start + 12)) {
            throw new ProtocolException("a frame has a wrong checksum");
        }
        int channelNumber = Byte.toUnsignedInt(buffer.get(start + 2));
        boolean more = (buffer.get(start + 3) & 1) != 0;
        int stream = buffer.getInt(start + 4);
        var payload = new byte[length];
        buffer.get(start + Frame.HEADER, payload);
        buffer.position(start + Frame.HEADER + length);
        return FrameKind.of(Byte.toUnsignedInt(buffer.get(start + 1)))
                .map(kind -> new Frame(kind, channelNumber, more, stream, payload));
    }

    /// Reads on until `wanted` bytes are there; false if the channel ended and nothing is left.
    private boolean has(int wanted) throws IOException {
        if (buffer.remaining() >= wanted) {
            return true;
        }
        buffer.compact();
        try {
            while (buffer.position() < wanted) {
                int count = channel.read(buffer);
                if (count < 0 && buffer.position() == 0) {
                    return false;
                }
                if (count < 0) {
                    throw new ProtocolException("the channel ended inside a frame");
                }
                if (count == 0) {
                    throw new IOException("the channel is not in blocking mode");
                }
                // A guest that always has something to say would otherwise keep a carrier thread
                // for itself.
                Thread.yield();
            }
        } finally {
            buffer.flip();
        }
        return true;
    }
}
