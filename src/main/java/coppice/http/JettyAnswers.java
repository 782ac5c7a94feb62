package coppice.http;

import coppice.base.Deadline;
import coppice.base.Size;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.HTTP2Session;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/// Writes answers that are at hand.
///
/// A peer of HTTP/2 can leave as many of them waiting as it may open streams, by not opening a window, and at no cost. So those do not
/// count as requests in progress any more; their memory is bounded, and beyond that the peer that makes most of it wait is cut off.
final class JettyAnswers {
    private static final Size MAX_WAITING = Size.ofMib(32);

    /// What Jetty holds for an answer besides its body, roughly.
    private static final int OVERHEAD = 8 << 10;

    private final Map<HTTP2Session, Waiting> waiting = new HashMap<>();
    private long total;

    private record Waiting(int answers, long bytes) {
        Waiting and(Waiting more) {
            return new Waiting(answers + more.answers, bytes + more.bytes);
        }
    }

    void write(HttpResponse plain, Request request, Response response, Callback callback) {
        var answer = ContentCoding.chosen(plain, request.getHeaders());
        head(answer, response);
        var content =
                switch (answer.body()) {
                    case ResponseBody.None _ -> BufferUtil.EMPTY_BUFFER;
                    case ResponseBody.Bytes(byte[] bytes) -> ByteBuffer.wrap(bytes);
                    case ResponseBody.Stream _, ResponseBody.Upgrade _ ->
                            throw new IllegalStateException("what is refused is answered at once");
                };
        if (answer.status() != 204 && answer.status() != 304) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, content.remaining());
        }
        if ("HEAD".equals(request.getMethod())) {
            content = BufferUtil.EMPTY_BUFFER;
        }
        var connection = request.getConnectionMetaData().getConnection();
        if (connection instanceof HTTP2Connection http2 && content.hasRemaining()) {
            callback = new Counted(callback, http2.getSession(), content.remaining());
        }
        response.write(true, content, callback);
    }

    static void head(HttpResponse answer, Response response) {
        response.setStatus(answer.status());
        addHeaders(answer, response);
    }

    static void addHeaders(HttpResponse answer, Response response) {
        var headers = response.getHeaders();
        answer.headers().fields().forEach(field -> headers.add(field.name(), field.value()));
    }

    /// Waits for the answers that do not count as requests in progress.
    synchronized void drain(Deadline deadline) {
        try {
            while (!waiting.isEmpty() && !deadline.isPast()) {
                wait(Math.max(1, deadline.left().toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// The peer to cut off: only one with several answers waiting, since one is no more than a connection of HTTP/1.1 may have.
    private synchronized Optional<HTTP2Session> add(HTTP2Session session, Waiting answer) {
        waiting.merge(session, answer, Waiting::and);
        total += answer.bytes;
        return total <= MAX_WAITING.bytes()
                ? Optional.empty()
                : waiting.entrySet().stream()
                        .filter(entry -> entry.getValue().answers > 1)
                        .max(Comparator.comparingLong(entry -> entry.getValue().bytes))
                        .map(Map.Entry::getKey);
    }

    private synchronized void remove(HTTP2Session session, Waiting answer) {
        total -= answer.bytes;
        waiting.computeIfPresent(
                session,
                (_, all) ->
                        all.answers == 1
                                ? null
                                : new Waiting(all.answers - 1, all.bytes - answer.bytes));
        notifyAll();
    }

    private final class Counted extends Callback.Nested {
        private final HTTP2Session session;
        private final Waiting answer;

        Counted(Callback callback, HTTP2Session session, int length) {
            super(callback);
            this.session = session;
            this.answer = new Waiting(1, OVERHEAD + length);
            add(session, answer).ifPresent(JettyAnswers::cut);
        }

        @Override
        public void succeeded() {
            remove(session, answer);
            super.succeeded();
        }

        @Override
        public void failed(Throwable why) {
            remove(session, answer);
            super.failed(why);
        }
    }

    private static void cut(HTTP2Session session) {
        session.onConnectionFailure(ErrorCode.ENHANCE_YOUR_CALM_ERROR.code, "answers_not_taken");
    }
}
