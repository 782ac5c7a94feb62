package coppice.http;

/// Writes the body of an answer. Owns whatever it reads from until it is closed.
@FunctionalInterface
public interface BodyWriter extends AutoCloseable {

    /// Writes the whole body and returns. Called at most once, on the virtual thread of the request; not at all for HEAD.
    ///
    /// Whatever this throws, the peer can tell that its answer is not whole: what was begun is cut off, never ended in good order.
    void write(BodySink sink);

    /// Called once in every case, after [#write] or instead of it.
    @Override
    default void close() {}
}
