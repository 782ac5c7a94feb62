package coppice.api.legacy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Reply;
import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.http.Headers;
import coppice.http.ResponseBody;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.util.Arrays;
import java.util.Base64;
import java.util.OptionalLong;

/// A file in a legacy answer: `{"content":"...","encoding":"utf8"}`, or `base64` when its bytes are no UTF-8. Written while it is sent,
/// since it may take six times the bytes of its file.
///
/// @param room what is let go of when the answer is over
record FileJson(byte[] content, boolean isText, FileRoom.Taken room) implements BodyWriter {
    private static final byte[] BEFORE = "{\"content\":\"".getBytes(US_ASCII);
    private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);
    private static final byte[] CONTROL = "\\u00".getBytes(US_ASCII);
    private static final int LONGEST_ESCAPE = 6;

    /// A multiple of three: base64 has no end in the middle.
    private static final int PIECE = 48 << 10;

    static Reply reply(byte[] content, FileRoom.Taken room) {
        var json = new FileJson(content, isText(content), room);
        return new Reply(
                200,
                Headers.of("Content-Type", "application/json"),
                new ResponseBody.Stream(OptionalLong.of(json.length()), json));
    }

    /// In constant memory.
    private static boolean isText(byte[] content) {
        var decoder = UTF_8.newDecoder();
        var in = ByteBuffer.wrap(content);
        var out = CharBuffer.allocate(PIECE);
        var result = CoderResult.OVERFLOW;
        while (result.isOverflow()) {
            result = decoder.decode(in, out.clear(), true);
        }
        return !result.isError();
    }

    private long length() {
        long inside = isText ? 0 : 4 * ((content.length + 2L) / 3);
        for (int at = 0; isText && at < content.length; at++) {
            inside += width(content[at]);
        }
        return BEFORE.length + inside + after().length;
    }

    private byte[] after() {
        return "\",\"encoding\":\"%s\"}".formatted(isText ? "utf8" : "base64").getBytes(US_ASCII);
    }

    @Override
    public void write(BodySink sink) {
        sink.write(BEFORE);
        if (isText) {
            writeText(sink);
        } else {
            writeBase64(sink);
        }
        sink.write(after());
    }

    /// Byte by byte: all that JSON wants escaped is ASCII.
    private void writeText(BodySink sink) {
        var piece = new byte[PIECE];
        int length = 0;
        for (byte next : content) {
            if (length > piece.length - LONGEST_ESCAPE) {
                sink.write(piece, 0, length);
                length = 0;
            }
            length += put(next, piece, length);
        }
        sink.write(piece, 0, length);
    }

    private static int put(byte next, byte[] into, int at) {
        int width = width(next);
        switch (width) {
            case 1 -> into[at] = next;
            case 2 -> {
                into[at] = '\\';
                into[at + 1] = next == '\n' ? (byte) 'n' : next;
            }
            default -> {
                System.arraycopy(CONTROL, 0, into, at, CONTROL.length);
                into[at + 4] = HEX[next >> 4];
                into[at + 5] = HEX[next & 15];
            }
        }
        return width;
    }

    private static int width(byte next) {
        return switch (next) {
            case '"', '\\', '\n' -> 2;
            default -> next >= 0 && next < ' ' ? LONGEST_ESCAPE : 1;
        };
    }

    private void writeBase64(BodySink sink) {
        for (int at = 0; at < content.length; at += PIECE) {
            var piece = Arrays.copyOfRange(content, at, Math.min(at + PIECE, content.length));
            sink.write(Base64.getEncoder().encode(piece));
        }
    }

    @Override
    public void close() {
        room.close();
    }
}
