package coppice.api;

import coppice.json.Schema;

/// What an operation answers when it succeeds.
public sealed interface Output {

    /// 204 without body.
    record NoContent() implements Output {}

    /// 200 with this.
    record Json(Schema schema) implements Output {}

    /// 200 with a page for people. Its failures are pages, too, where the handler can make one.
    record Html() implements Output {}

    /// 200 with bytes.
    record Bytes() implements Output {}

    /// 200 with bytes, or 206 with a part of them.
    record Ranges() implements Output {}

    /// 200 with lines of text for as long as the caller listens.
    record Lines() implements Output {}

    /// 101, and then a WebSocket. Requests that are no opening handshake do not reach the handler.
    record Upgrade() implements Output {}

    /// What another call answered, with its status and its body; or 202 while that call goes on.
    record Replay() implements Output {}

    /// Whether the call can go on in the background: its answer has an end, and can be kept.
    default boolean isDeferrable() {
        return switch (this) {
            case NoContent _, Json _, Html _, Bytes _, Ranges _ -> true;
            case Lines _, Upgrade _, Replay _ -> false;
        };
    }
}
