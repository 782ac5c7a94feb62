package coppice.http;

/// Where a [BodyWriter] writes to. For the thread that [BodyWriter#write] was called on.
///
/// Every call but [#whenDraining] waits for the peer to take what is sent. One that is gone, or takes nothing for
/// [HttpLimits#idleTime], is a [Failure] of [Code#UNAVAILABLE], from then on at every call; a writer lets it pass.
public interface BodySink {

    /// The array is free again afterwards.
    void write(byte[] bytes, int at, int length);

    default void write(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    /// Sends what was written so far at once, and the head of the answer even if that was nothing.
    void flush();

    /// Has `listener` told, once and on another thread, that the server is stopping; when it already is, at once and on this one. A writer
    /// without an end in sight then ends its body: after [HttpLimits#drainTime] it is cut. `listener` must not wait.
    void whenDraining(Runnable listener);
}
