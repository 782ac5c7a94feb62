package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;

/// Reads a request's body from Jetty, blocking its virtual thread. What is not asked for stays in the socket.
final class JettyBody implements RequestBody {
    private static final int FIRST_BUFFER = 64 << 10;
    private static final int PIECE = 16 << 10;
    private static final Size DISCARDED = Size.ofMib(32);
    private static final Duration DISCARD_TIME = Duration.ofSeconds(5);

    private final Request request;
    private final boolean hasBody;
    private boolean started;
    private boolean ended;

    /// Taken from Jetty to see whether there is a body, and not yet opened.
    private Optional<Content.Chunk> first = Optional.empty();

    /// Taken from Jetty, and not yet read to its end.
    private Optional<Content.Chunk> open = Optional.empty();

    JettyBody(Request request) {
        this.request = request;
        this.hasBody = isAnnounced(request) || JettyHandler.isHttp2(request) && isOpen();
        this.ended = !hasBody;
    }

    @Override
    public byte[] read(Size limit, Deadline deadline) {
        var stream = stream(limit);
        var first = length().orElse(1024);
        var bytes = new ByteArrayOutputStream((int) Math.min(first, FIRST_BUFFER));
        var piece = new byte[(int) Math.min(Math.max(first, 1), PIECE)];
        for (int n = stream.read(piece, 0, piece.length, deadline);
                n > 0;
                n = stream.read(piece, 0, piece.length, deadline)) {
            bytes.write(piece, 0, n);
        }
        return bytes.toByteArray();
    }

    @Override
    public OptionalLong length() {
        return hasBody && request.getLength() < 0
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, request.getLength()));
    }

    @Override
    public Stream stream(Size limit) {
        if (request.getLength() > limit.bytes()) {
            throw RequestBody.tooLarge(limit);
        }
        return new Pieces(limit);
    }

    /// Reads on to the end, within reason, when the handler did not.
    void discard() {
        release();
        if (ended || isHeldBack() || request.getLength() > DISCARDED.bytes()) {
            return;
        }
        try {
            var rest = new Pieces(DISCARDED);
            var deadline = Deadline.in(DISCARD_TIME);
            while (rest.next(deadline)) {
                release();
            }
        } catch (Failure _) {
            // Not ours to report: the handler has decided its answer, and Jetty closes the
            // connection after it.
        } finally {
            release();
        }
    }

    private void release() {
        open.ifPresent(Content.Chunk::release);
        open = Optional.empty();
    }

    private final class Pieces implements Stream {
        private final Size limit;
        private long arrived;

        Pieces(Size limit) {
            this.limit = limit;
        }

        @Override
        public int read(byte[] into, int at, int length, Deadline deadline) {
            Objects.checkFromIndexSize(at, length, into.length);
            if (open.isEmpty() && !next(deadline)) {
                return 0;
            }
            var bytes = open.orElseThrow().getByteBuffer();
            int n = Math.min(length, bytes.remaining());
            bytes.get(into, at, n);
            if (!bytes.hasRemaining()) {
                release();
            }
            return n;
        }

        /// Opens the next chunk that has a byte; false when the body is over.
        private boolean next(Deadline deadline) {
            started = true;
            while (!ended) {
                var chunk = first.orElseGet(request::read);
                first = Optional.empty();
                if (chunk == null) {
                    await(deadline);
                    continue;
                }
                if (Content.Chunk.isFailure(chunk)) {
                    throw broken(chunk.getFailure());
                }
                ended = chunk.isLast();
                open = Optional.of(chunk);
                arrived += chunk.remaining();
                if (arrived > limit.bytes()) {
                    release();
                    throw RequestBody.tooLarge(limit);
                }
                if (deadline.isPast() && !ended) {
                    release();
                    throw late();
                }
                if (chunk.hasRemaining()) {
                    return true;
                }
                release();
            }
            return false;
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

    private Failure broken(Throwable why) {
        if (why instanceof TimeoutException) {
            return late();
        }
        ended = true;
        return new Failure(
                Code.BAD_REQUEST, "the body ended early or is badly framed; send it whole", why);
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

    /// HTTP/2 need not announce a body, and says by the end of the stream that there is none.
    private boolean isOpen() {
        if (request.getLength() == 0) {
            return false;
        }
        if (!isHeldBack()) {
            first = Optional.ofNullable(request.read());
        }
        return first.filter(
                        chunk ->
                                chunk.isLast()
                                        && !chunk.hasRemaining()
                                        && !Content.Chunk.isFailure(chunk))
                .isEmpty();
    }

    /// A peer that waits for our consent has sent nothing yet.
    private boolean isHeldBack() {
        return !started && request.getHeaders().contains(HttpHeader.EXPECT);
    }
}
