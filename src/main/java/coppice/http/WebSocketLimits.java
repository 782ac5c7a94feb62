package coppice.http;

import coppice.base.Size;
import java.time.Duration;

/// The limits of the WebSockets of an [HttpServer].
///
/// - `maxOpen`: at once; one more is answered 503.
/// - `maxMessage`: from the peer, all fragments together; more closes with 1009.
/// - `maxQueued`: for one peer, not yet sent; a sender then waits.
/// - `sendTime`: how long a sender waits; the socket is cut when it is over.
/// - `pingTime`: between two pings.
/// - `pongTime`: without any frame of the peer while one is awaited; the socket is closed when it is over.
/// - `closeTime`: from our close frame to the peer's.
public record WebSocketLimits(
        int maxOpen,
        Size maxMessage,
        Size maxQueued,
        Duration sendTime,
        Duration pingTime,
        Duration pongTime,
        Duration closeTime) {

    public static final WebSocketLimits DEFAULT =
            new WebSocketLimits(
                    1024,
                    Size.ofMib(1),
                    Size.ofMib(9),
                    Duration.ofSeconds(60),
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(60),
                    Duration.ofSeconds(5));

    public WebSocketLimits {
        if (maxOpen < 1 || maxMessage.bytes() < 1 || maxQueued.bytes() < 1) {
            throw new IllegalArgumentException("WebSockets need room for one message");
        }
        if (maxMessage.bytes() > Integer.MAX_VALUE / 2 || maxQueued.bytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a message is held in memory; lower the limits");
        }
    }
}
