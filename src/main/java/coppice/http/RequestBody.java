package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.util.OptionalLong;

/// The body of a request, not yet read. Read once, whole or as a stream, on the thread of the request, before the answer is returned.
public interface RequestBody {

    /// All of it, waiting for what has not arrived.
    ///
    /// @throws Failure [Code#PAYLOAD_TOO_LARGE] when longer than `limit`, announced or found; [Code#BAD_REQUEST] when it ends
    ///     early, is badly framed, or has not arrived by the deadline.
    byte[] read(Size limit, Deadline deadline);

    /// As announced; absent when only its end will tell.
    OptionalLong length();

    /// Piece by piece, in constant memory: what is not read is left with the sender.
    ///
    /// @throws Failure [Code#PAYLOAD_TOO_LARGE] when more than `limit` is announced; nothing was read then.
    Stream stream(Size limit);

    /// What is left of a body.
    interface Stream {

        /// Reads up to `length` bytes to `into` from `at` on, waiting for the first of them, and tells how many; 0 is the end.
        ///
        /// @throws Failure [Code#PAYLOAD_TOO_LARGE] as soon as more than the limit has arrived; [Code#BAD_REQUEST] when the body
        ///     ends early, is badly framed, or nothing arrives by the deadline. It cannot be read on after any of them.
        int read(byte[] into, int at, int length, Deadline deadline);
    }

    /// A body already at hand.
    static RequestBody of(byte[] bytes) {
        return new BodyAtHand(bytes);
    }

    static Failure tooLarge(Size limit) {
        return new Failure(
                Code.PAYLOAD_TOO_LARGE,
                "the body is larger than %d bytes; send less".formatted(limit.bytes()));
    }
}
