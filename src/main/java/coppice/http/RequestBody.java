package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;

/// The body of a request, not yet read. Read once, on the thread of the request.
public interface RequestBody {

    /// All of it, waiting for what has not arrived.
    ///
    /// @throws Failure [Code#PAYLOAD_TOO_LARGE] when longer than `limit`, announced or found; [Code#BAD_REQUEST] when it ends
    ///     early, is badly framed, or has not arrived by the deadline.
    byte[] read(Size limit, Deadline deadline);

    /// A body already at hand.
    static RequestBody of(byte[] bytes) {
        return (limit, _) -> {
            if (bytes.length > limit.bytes()) {
                throw tooLarge(limit);
            }
            return bytes;
        };
    }

    static Failure tooLarge(Size limit) {
        return new Failure(
                Code.PAYLOAD_TOO_LARGE,
                "the body is larger than %d bytes; send less".formatted(limit.bytes()));
    }
}
