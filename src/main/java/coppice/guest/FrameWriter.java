package coppice.guest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.zip.CRC32C;

/// Puts frames on a channel in blocking mode.
final class FrameWriter {
    private final WritableByteChannel channel;

    FrameWriter(WritableByteChannel channel) {
        this.channel = channel;
    }

    void write(Frame frame) throws IOException {
        write(encode(frame));
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("the channel is not in blocking mode");
            }
        }
    }

    static ByteBuffer encode(Frame frame) {
        var bytes =
                ByteBuffer.allocate(Frame.HEADER + frame.payload().length)
                        .put(Frame.FIRST_BYTE)
                        .put((byte) frame.kind().code())
                        .put((byte) frame.channel())
                        .put((byte) (frame.more() ? 1 : 0))
                        .putInt(frame.stream())
                        .putInt(frame.payload().length);
        var crc = new CRC32C();
        crc.update(bytes.array(), 0, 12);
        crc.update(frame.payload());
        return bytes.putInt((int) crc.getValue()).put(frame.payload()).flip();
    }
}
