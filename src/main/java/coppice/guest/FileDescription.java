package coppice.guest;

import java.net.ProtocolException;
import java.time.Instant;

/// A file, as the guest describes it. `size` is in bytes, `mode` the lower 12 bits; `owner` and `group` are names, or numbers
/// where there is none, and safe to show.
public record FileDescription(
        FileKind kind, long size, int mode, String owner, String group, Instant modified) {
    private static final long SECOND = 1_000_000_000L;

    static FileDescription of(Fields fields) throws ProtocolException {
        return new FileDescription(
                FileKind.of(fields),
                fields.number(Tag.SIZE, Long.MAX_VALUE),
                (int) fields.number(Tag.MODE, 07777),
                name(fields, Tag.OWNER),
                name(fields, Tag.GROUP),
                instant(fields, Tag.MODIFIED));
    }

    static Instant instant(Fields fields, Tag tag) throws ProtocolException {
        long nanos = fields.number(tag, Long.MAX_VALUE);
        return Instant.ofEpochSecond(nanos / SECOND, nanos % SECOND);
    }

    private static String name(Fields fields, Tag tag) throws ProtocolException {
        return fields.text(tag)
                .map(GuestText::clean)
                .orElseThrow(() -> new ProtocolException("field %s is missing".formatted(tag)));
    }
}
