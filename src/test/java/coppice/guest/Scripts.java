package coppice.guest;

import java.io.IOException;
import java.nio.ByteBuffer;

/// Parts of what scripted agents say.
final class Scripts {
    private Scripts() {}

    static Frame data(int stream, int channel, long offset, int length) {
        return Frame.data(stream, channel, offset, new byte[length], 0, length);
    }

    static ByteBuffer spoiled(Frame frame, int at, int value) {
        return FrameWriter.encode(frame).put(at, (byte) value);
    }

    static ByteBuffer claiming(int length) {
        return FrameWriter.encode(data(1, 1, 0, 5)).putInt(8, length);
    }

    static FieldsWriter lengths(long stdout, long stderr) {
        return new FieldsWriter()
                .number(Tag.STDOUT_LENGTH, stdout)
                .number(Tag.STDERR_LENGTH, stderr);
    }

    static void endAt(Wire wire, int stream, long length) throws IOException {
        wire.send(data(stream, 1, 0, 5));
        wire.send(Frame.offset(FrameKind.END, stream, 1, length));
    }

    /// Five bytes of stdout, no stderr, then this result.
    static void ended(Wire wire, int stream, FieldsWriter result) throws IOException {
        endAt(wire, stream, 5);
        wire.send(Frame.offset(FrameKind.END, stream, 2, 0));
        result(wire, stream, result);
    }

    static void result(Wire wire, int stream, FieldsWriter fields) throws IOException {
        wire.send(Frame.fields(FrameKind.RESULT, stream, fields.toBytes()));
    }

    static void first(Wire wire, Frame frame) throws IOException {
        wire.raw(Guest.MAGIC);
        wire.raw(wire.nonce());
        wire.send(frame);
    }

    static void answerOnlySync(Wire wire) throws IOException {
        wire.welcome();
        while (true) {
            answerOnlySync(wire, wire.next(FrameKind.OPEN));
        }
    }

    static void answerOnlySync(Wire wire, Frame open) throws IOException {
        if (Fields.parse(open.payload()).text(Tag.OPERATION).orElseThrow().equals("sync")) {
            wire.send(Frame.fields(FrameKind.RESULT, open.stream(), new byte[0]));
        }
    }
}
