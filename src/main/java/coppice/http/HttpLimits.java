package coppice.http;

import coppice.base.Size;
import java.time.Duration;

/// The limits of an [HttpServer]. They bind streams of HTTP/2 as they bind connections of HTTP/1.1; what only HTTP/2 needs is in
/// [JettyHttp2].
///
/// - `maxRequests`: in progress at once; one more is answered 503. Of HTTP/2, one whose answer is at hand is not in progress any more.
/// - `maxConnections`: open at once; further ones wait in the kernel's queue.
/// - `maxHead`: request line and header fields together; more is answered 414 or 431, and ends a connection of HTTP/2.
/// - `headTime`: from the first byte of a head to its last, or of any frame but DATA, or from the opening to the end of a TLS handshake;
///   the connection is closed when it is over.
/// - `idleTime`: without a byte in either direction while a byte is awaited, and between requests; a peer must take a few KiB of a
///   streamed answer within it. Of HTTP/2, only the stream is reset while its connection is used.
/// - `drainTime`: for requests in progress and open WebSockets when the server is closed.
/// - `sockets`: of WebSockets, which the other limits do not bind once they are open, except that they count as connections.
public record HttpLimits(
        int maxRequests,
        int maxConnections,
        Size maxHead,
        Duration headTime,
        Duration idleTime,
        Duration drainTime,
        WebSocketLimits sockets) {

    public static final HttpLimits DEFAULT =
            new HttpLimits(
                    2048,
                    4096,
                    new Size(32 << 10),
                    Duration.ofSeconds(20),
                    Duration.ofSeconds(60),
                    Duration.ofSeconds(30),
                    WebSocketLimits.DEFAULT);

    public HttpLimits {
        if (maxRequests < 1 || maxConnections < 1 || maxHead.bytes() < 1024) {
            throw new IllegalArgumentException("an HTTP server needs room for one request");
        }
    }
}
