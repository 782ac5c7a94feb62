package coppice.guest;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/// Groups of fields that come one after the other without an end, each with the same last tag. Touched where its inlet is.
final class FieldStream {
    private static final int HEADER = 6;
    private static final int MAX_GROUP = 16 * 1024;

    private final Inlet inlet;
    private final Tag last;
    private final byte[] here = new byte[MAX_GROUP];
    private int size;

    FieldStream(Inlet inlet, Tag last) {
        this.inlet = inlet;
        this.last = last;
    }

    /// The next whole group; empty if it is not here yet.
    Optional<Fields> next() throws ProtocolException {
        size += inlet.take(here, size, here.length - size);
        int end = 0;
        boolean whole = false;
        while (!whole && size - end >= HEADER) {
            var header = ByteBuffer.wrap(here, end, HEADER);
            whole = Short.toUnsignedInt(header.getShort()) == last.code();
            int length = header.getInt();
            if (length < 0 || length > MAX_GROUP - end - HEADER) {
                throw new ProtocolException(
                        "fields of more than %d bytes came at once".formatted(MAX_GROUP));
            }
            end += HEADER + length;
        }
        if (!whole || end > size) {
            return notYet();
        }
        var fields = Fields.parse(Arrays.copyOf(here, end));
        System.arraycopy(here, end, here, 0, size - end);
        size -= end;
        return Optional.of(fields);
    }

    private Optional<Fields> notYet() throws ProtocolException {
        if (size == here.length) {
            throw new ProtocolException(
                    "fields of more than %d bytes came at once".formatted(MAX_GROUP));
        }
        return Optional.empty();
    }
}
