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

    /// An honest description of a file of this size, and its end.
    static void described(Wire wire, int stream, long size) throws IOException {
        var fields =
                new FieldsWriter()
                        .number(Tag.KIND, 1)
                        .number(Tag.SIZE, size)
                        .number(Tag.MODE, 0644)
                        .text(Tag.OWNER, "root")
                        .text(Tag.GROUP, "root")
                        .number(Tag.MODIFIED, 1);
        channel(wire, stream, 2, fields);
    }

    /// An honest description of a new terminal, and its end.
    static void terminal(Wire wire, int stream) throws IOException {
        channel(wire, stream, 2, terminal().number(Tag.OFFSET, 0));
    }

    static FieldsWriter terminal() {
        return new FieldsWriter()
                .number(Tag.SESSION, 1)
                .text(Tag.USER, "app")
                .number(Tag.COLUMNS, 80)
                .number(Tag.ROWS, 24)
                .number(Tag.CREATED, 1);
    }

    /// These fields on the channel, and its end.
    static void channel(Wire wire, int stream, int channel, FieldsWriter fields)
            throws IOException {
        var bytes = fields.toBytes();
        if (bytes.length > 0) {
            wire.send(Frame.data(stream, channel, 0, bytes, 0, bytes.length));
        }
        wire.send(Frame.offset(FrameKind.END, stream, channel, bytes.length));
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
