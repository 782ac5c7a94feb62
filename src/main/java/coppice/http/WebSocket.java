package coppice.http;

import coppice.base.Failure;

/// The server's end of an open WebSocket. For any thread; what one thread sends arrives in its order.
public interface WebSocket {

    /// Queues a text message. Waits only when [WebSocketLimits#maxQueued] is reached, until the peer has taken enough.
    ///
    /// @throws Failure [Code#UNAVAILABLE] when the socket is closed, or the peer takes nothing for
    ///     [WebSocketLimits#sendTime], in which case it is cut.
    void send(String message);

    /// The same for a binary message. The array belongs to the socket from here on.
    void send(byte[] message);

    /// What was sent, and has not yet left for the peer.
    long queuedBytes();

    /// Begins to close, and does not wait. For 1000, what is queued is sent before; for other codes it is dropped. A peer that does not
    /// answer within [WebSocketLimits#closeTime] is cut. Nothing happens when the socket is closing already.
    void close(int code, String reason);
}
