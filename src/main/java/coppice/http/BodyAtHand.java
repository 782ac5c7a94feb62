package coppice.http;

import coppice.base.Deadline;
import coppice.base.Size;
import java.io.ByteArrayInputStream;
import java.util.OptionalLong;

/// A body that did not come over a socket.
record BodyAtHand(byte[] bytes) implements RequestBody {

    @Override
    public byte[] read(Size limit, Deadline deadline) {
        check(limit);
        return bytes;
    }

    @Override
    public OptionalLong length() {
        return OptionalLong.of(bytes.length);
    }

    @Override
    public Stream stream(Size limit) {
        check(limit);
        var left = new ByteArrayInputStream(bytes);
        return (into, at, length, _) -> Math.max(0, left.read(into, at, length));
    }

    private void check(Size limit) {
        if (bytes.length > limit.bytes()) {
            throw RequestBody.tooLarge(limit);
        }
    }
}
