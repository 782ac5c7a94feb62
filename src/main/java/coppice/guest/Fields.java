package coppice.guest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/// Fields as they were received. Of a tag that repeats where it should not, the first counts.
final class Fields {
    static final Fields NONE = new Fields(List.of());

    private record Field(int tag, byte[] value) {}

    private final List<Field> fields;

    private Fields(List<Field> fields) {
        this.fields = List.copyOf(fields);
    }

    static Fields parse(byte[] bytes) throws ProtocolException {
        var fields = new ArrayList<Field>();
        var rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) {
            if (rest.remaining() < 6) {
                throw new ProtocolException("a field is cut off");
            }
            int tag = Short.toUnsignedInt(rest.getShort());
            int length = rest.getInt();
            if (length < 0 || length > rest.remaining()) {
                throw new ProtocolException(
                        "field %d claims more bytes than there are".formatted(tag));
            }
            fields.add(
                    new Field(
                            tag,
                            Arrays.copyOfRange(bytes, rest.position(), rest.position() + length)));
            rest.position(rest.position() + length);
        }
        return new Fields(fields);
    }

    /// Several groups of fields, each beginning with the tag `first`.
    static List<Fields> parseAll(byte[] bytes, Tag first) throws ProtocolException {
        var groups = new ArrayList<Fields>();
        var group = new ArrayList<Field>();
        for (var field : parse(bytes).fields) {
            if (field.tag == first.code() && !group.isEmpty()) {
                groups.add(new Fields(group));
                group.clear();
            }
            group.add(field);
        }
        if (!group.isEmpty()) {
            groups.add(new Fields(group));
        }
        return groups;
    }

    boolean has(Tag tag) {
        return bytes(tag).isPresent();
    }

    Optional<byte[]> bytes(Tag tag) {
        return fields.stream()
                .filter(field -> field.tag == tag.code())
                .map(Field::value)
                .findFirst();
    }

    /// Bytes that are no UTF-8 become replacement characters. The text is as the other end wrote it: see [GuestText].
    Optional<String> text(Tag tag) {
        return bytes(tag).map(value -> new String(value, UTF_8));
    }

    List<String> texts(Tag tag) {
        return fields.stream()
                .filter(field -> field.tag == tag.code())
                .map(field -> new String(field.value, UTF_8))
                .toList();
    }

    OptionalLong number(Tag tag) throws ProtocolException {
        var value = bytes(tag);
        if (value.isEmpty()) {
            return OptionalLong.empty();
        }
        if (value.get().length != Long.BYTES) {
            throw new ProtocolException("field %s is no integer".formatted(tag));
        }
        long number = ByteBuffer.wrap(value.get()).getLong();
        if (number < 0) {
            throw new ProtocolException("field %s is beyond 2^63".formatted(tag));
        }
        return OptionalLong.of(number);
    }

    /// A number that must be there and be at most `max`.
    long number(Tag tag, long max) throws ProtocolException {
        var number = number(tag);
        if (number.isEmpty() || number.getAsLong() > max) {
            throw new ProtocolException("field %s is missing or out of range".formatted(tag));
        }
        return number.getAsLong();
    }

    Optional<UUID> uuid(Tag tag) throws ProtocolException {
        var value = bytes(tag);
        if (value.isPresent() && value.get().length != 16) {
            throw new ProtocolException("field %s has not 16 bytes".formatted(tag));
        }
        return value.map(ByteBuffer::wrap).map(bytes -> new UUID(bytes.getLong(), bytes.getLong()));
    }
}
