package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;

/// Reads a request's body from Jetty, blocking its virtual thread.
final class JettyBody implements RequestBody {
    private static final int FIRST_BUFFER = 64 << 10;
    private static final Size DISCARDED = Size.ofMib(32);
    private static final Duration DISCARD_TIME = Duration.ofSeconds(5);

    private final Request request;
    private boolean started;
    private boolean ended;

    JettyBody(Request request) {
        this.request = request;
        this.ended = !isAnnounced(request);
    }

    @Override
    public byte[] read(Size limit, Deadline deadline) {
        var announced = request.getLength();
        if (announced > limit.bytes()) {
            throw RequestBody.tooLarge(limit);
        }
        var bytes =
                new ByteArrayOutputStream(
                        announced < 0 ? 1024 : (int) Math.min(announced, FIRST_BUFFER));
        each(
                deadline,
                part -> {
                    if (bytes.size() + (long) part.remaining() > limit.bytes()) {
                        throw RequestBody.tooLarge(limit);
                    }
                    var copy = new byte[part.remaining()];
                    part.get(copy);
                    bytes.write(copy, 0, copy.length);
                });
        return bytes.toByteArray();
    }

    /// Reads on to the end, within reason, when the handler did not.
    void discard() {
        // A peer that waits for our consent has sent nothing yet.
        var isHeldBack = !started && request.getHeaders().contains(HttpHeader.EXPECT);
        if (ended || isHeldBack || request.getLength() > DISCARDED.bytes()) {
            return;
        }
        try {
            var left = new long[] {DISCARDED.bytes()};
            each(
                    Deadline.in(DISCARD_TIME),
                    part -> {
                        left[0] -= part.remaining();
                        if (left[0] < 0) {
                            throw RequestBody.tooLarge(DISCARDED);
                        }
                    });
        } catch (Failure _) {
            // Not ours to report: the handler has decided its answer, and Jetty closes the
            // connection after it.
        }
    }

    private void each(Deadline deadline, Consumer<ByteBuffer> take) {
        started = true;
        while (!ended) {
            var chunk = request.read();
            if (chunk == null) {
                await(deadline);
                continue;
            }
            if (Content.Chunk.isFailure(chunk)) {
                ended = true;
                throw new Failure(
                        Code.BAD_REQUEST,
                        "the body ended early or is badly framed; send it whole",
                        chunk.getFailure());
            }
            ended = chunk.isLast();
            try {
                take.accept(chunk.getByteBuffer());
            } finally {
                chunk.release();
            }
            if (!ended && deadline.isPast()) {
                throw late();
            }
        }
    }

    private void await(Deadline deadline) {
        var arrived = new Semaphore(0);
        request.demand(Invocable.from(Invocable.InvocationType.NON_BLOCKING, arrived::release));
        try {
            if (!arrived.tryAcquire(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                throw late();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "the server is stopping; try again", e);
        }
    }

    private Failure late() {
        ended = true;
        return new Failure(
                Code.BAD_REQUEST,
                "the body did not arrive in time; send it faster or in parts",
                new TimeoutException("request body"));
    }

    private static boolean isAnnounced(Request request) {
        return request.getLength() > 0
                || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
    }
}
