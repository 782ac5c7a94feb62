package coppice.http;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/// Sends a streamed body through Jetty. Each write waits until the bytes have left, so no more than one buffer is ever under way.
final class JettyStream implements BodySink {
    private static final int BUFFER = 16 << 10;

    /// What is sent in one go must leave within the idle time.
    private static final int PIECE = 64 << 10;

    private final Response response;
    private final OptionalLong length;
    private final Duration patience;
    private final Draining draining;
    private final List<Runnable> listeners = new ArrayList<>();
    private final ByteBuffer buffer;
    private long written;
    private Optional<Failure> gone = Optional.empty();

    JettyStream(Response response, OptionalLong length, Duration patience, Draining draining) {
        this.response = response;
        this.length = length;
        this.patience = patience;
        this.draining = draining;
        this.buffer = ByteBuffer.allocate((int) Math.min(length.orElse(BUFFER), BUFFER));
    }

    @Override
    public void write(byte[] bytes, int at, int length) {
        Objects.checkFromIndexSize(at, length, bytes.length);
        written += length;
        if (this.length.isPresent() && written > this.length.getAsLong()) {
            throw new IllegalStateException("the body is longer than was announced");
        }
        if (length > buffer.remaining()) {
            sendBuffer();
        }
        if (length <= buffer.remaining()) {
            buffer.put(bytes, at, length);
            return;
        }
        for (int from = at; from < at + length; from += PIECE) {
            send(false, ByteBuffer.wrap(bytes, from, Math.min(PIECE, at + length - from)));
        }
    }

    @Override
    public void flush() {
        if (buffer.position() > 0 || !response.isCommitted()) {
            sendBuffer();
        }
    }

    @Override
    public void whenDraining(Runnable listener) {
        listeners.add(listener);
        draining.tell(listener);
    }

    /// Whether the peer does not take the answer any more: then what the writer throws is no fault of ours.
    boolean isGone() {
        return gone.isPresent();
    }

    /// The end of the body in good order.
    void end() {
        if (length.isPresent() && written < length.getAsLong()) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the body ended after %d of %d bytes".formatted(written, length.getAsLong()));
        }
        buffer.flip();
        send(true, buffer);
    }

    void forget() {
        listeners.forEach(draining::forget);
    }

    private void sendBuffer() {
        buffer.flip();
        send(false, buffer.hasRemaining() ? buffer : BufferUtil.EMPTY_BUFFER);
        buffer.clear();
    }

    private void send(boolean isLast, ByteBuffer bytes) {
        gone.ifPresent(
                failure -> {
                    throw failure;
                });
        var sent = new Sent();
        response.write(isLast, bytes, sent);
        try {
            if (!sent.done.await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw goneFor(new TimeoutException("the peer takes nothing"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw goneFor(e);
        }
        sent.failure.ifPresent(
                why -> {
                    throw goneFor(why);
                });
    }

    private Failure goneFor(Throwable why) {
        var failure =
                new Failure(
                        Code.UNAVAILABLE,
                        "the caller does not take the answer any more; ask again",
                        why);
        gone = Optional.of(failure);
        return failure;
    }

    private static final class Sent implements Callback {
        private final CountDownLatch done = new CountDownLatch(1);
        private volatile Optional<Throwable> failure = Optional.empty();

        @Override
        public void succeeded() {
            done.countDown();
        }

        @Override
        public void failed(Throwable why) {
            failure = Optional.of(why);
            done.countDown();
        }

        @Override
        public InvocationType getInvocationType() {
            return InvocationType.NON_BLOCKING;
        }
    }
}
