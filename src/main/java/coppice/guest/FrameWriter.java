package coppice.guest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.zip.CRC32C;

/// Puts frames on a channel in blocking mode.
final class FrameWriter {
    private final WritableByteChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(Frame.MAX_BYTES);

    FrameWriter(WritableByteChannel channel) {
        this.channel = channel;
    }

    void write(Frame frame) throws IOException {
        write(encode(frame, buffer.clear()));
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("the channel is not in blocking mode");
            }
        }
    }

    static ByteBuffer encode(Frame frame) {
        return encode(frame, ByteBuffer.allocate(Frame.HEADER + frame.payload().length));
    }

    private static ByteBuffer encode(Frame frame, ByteBuffer into) {
        into.put(Frame.FIRST_BYTE)
                .put((byte) frame.kind().code())
                .put((byte) frame.channel())
                .put((byte) (frame.more() ? 1 : 0))
                .putInt(frame.stream())
                .putInt(frame.payload().length);
        var crc = new CRC32C();
        crc.update(into.slice(0, Frame.HEADER - Integer.BYTES));
        crc.update(frame.payload());
        return into.putInt((int) crc.getValue()).put(frame.payload()).flip();
    }
}
