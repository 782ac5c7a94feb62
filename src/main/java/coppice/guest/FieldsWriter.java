package coppice.guest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;

/// Writes fields one after the other.
final class FieldsWriter {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    FieldsWriter bytes(Tag tag, byte[] value) {
        bytes.writeBytes(
                ByteBuffer.allocate(6).putShort((short) tag.code()).putInt(value.length).array());
        bytes.writeBytes(value);
        return this;
    }

    FieldsWriter text(Tag tag, String value) {
        return bytes(tag, value.getBytes(UTF_8));
    }

    FieldsWriter number(Tag tag, long value) {
        return bytes(tag, ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    }

    FieldsWriter uuid(Tag tag, UUID value) {
        return bytes(
                tag,
                ByteBuffer.allocate(16)
                        .putLong(value.getMostSignificantBits())
                        .putLong(value.getLeastSignificantBits())
                        .array());
    }

    FieldsWriter instant(Tag tag, Instant value) {
        return number(
                tag,
                Math.addExact(
                        Math.multiplyExact(value.getEpochSecond(), 1_000_000_000L),
                        value.getNano()));
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
