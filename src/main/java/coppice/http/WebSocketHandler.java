package coppice.http;

/// What is done with a WebSocket. Called on one virtual thread of the socket's own, one call after the other; may block.
///
/// While a call lasts nothing is taken from the peer, so a slow handler slows down its peer. A [coppice.base.Failure] that is
/// thrown closes the socket with 1011 and its message; anything else that is thrown is a fault of ours.
public interface WebSocketHandler {

    void opened(WebSocket socket);

    void text(String message);

    void binary(byte[] message);

    /// The last call, and made in every case, even when the socket could not be opened. 1006 stands for a peer that went away
    /// without a word, 1005 for one that gave no reason.
    void closed(int code, String reason);
}
