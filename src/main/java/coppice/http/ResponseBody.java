package coppice.http;

import java.util.OptionalLong;

/// What an answer carries.
public sealed interface ResponseBody {

    record None() implements ResponseBody {}

    /// Owned by the response from here on: not to be changed by whoever made it.
    record Bytes(byte[] bytes) implements ResponseBody {}

    /// Written while it is sent. With a length, that is announced, and a body that turns out shorter or longer ends the connection,
    /// or the stream of HTTP/2; without one, it is sent in chunks or frames. `writer` is closed by the server in every case.
    record Stream(OptionalLong length, BodyWriter writer) implements ResponseBody {
        public Stream {
            if (length.isPresent() && length.getAsLong() < 0) {
                throw new IllegalArgumentException("a body has no negative length");
            }
        }
    }

    /// The connection goes on as a WebSocket; the status is 101. The request must have passed [Handshake#check].
    record Upgrade(WebSocketHandler handler) implements ResponseBody {}
}
