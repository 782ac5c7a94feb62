package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Between Jetty and an [HttpHandler]: counts the requests in progress and translates both ways.
final class JettyHandler extends Handler.Abstract {
    private static final Logger LOG = LoggerFactory.getLogger(JettyHandler.class);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final HttpHandler handler;
    private final int maxRequests;
    private final Semaphore room;
    private volatile boolean draining;

    JettyHandler(HttpHandler handler, int maxRequests) {
        this.handler = handler;
        this.maxRequests = maxRequests;
        this.room = new Semaphore(maxRequests);
    }

    /// Refuses all further requests and waits for those in progress.
    void drain(Deadline deadline) {
        draining = true;
        try {
            if (!room.tryAcquire(maxRequests, deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.warn(
                        "cutting {} HTTP requests that did not end in time",
                        maxRequests - room.availablePermits());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        // The idle time is for peers that keep us waiting, not for work that takes long.
        request.addIdleTimeoutListener(_ -> false);
        if (isFramedLikeNoOther(request)) {
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            var answer =
                    refusal(request, 400, Code.BAD_REQUEST, "HTTP/1.0 has no chunks; use HTTP/1.1");
            write(answer, request, response, callback);
        } else if (draining) {
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            var answer =
                    refusal(request, 503, Code.UNAVAILABLE, "the server is stopping; try again");
            write(answer, request, response, callback);
        } else if (!room.tryAcquire()) {
            var answer =
                    refusal(request, 503, Code.UNAVAILABLE, "too many requests at once; try again");
            write(answer, request, response, callback);
        } else {
            answer(request, response, new Releasing(callback));
        }
        return true;
    }

    /// Jetty reads chunks of an HTTP/1.0 request, where a proxy in front may see a body without end: RFC 9112, 6.1.
    private static boolean isFramedLikeNoOther(Request request) {
        return request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_0
                && request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
    }

    private void answer(Request request, Response response, Callback callback) {
        try {
            var body = new JettyBody(request);
            var answer = answer(request, body);
            // A peer still sending when its connection is closed may never see our answer.
            body.discard();
            write(answer, request, response, callback);
        } catch (Throwable e) {
            callback.failed(e);
            throw e;
        }
    }

    private HttpResponse answer(Request request, JettyBody body) {
        try {
            return handler.handle(
                    new HttpRequest(
                            request.getMethod(),
                            path(request).orElse(""),
                            Optional.ofNullable(request.getHttpURI().getQuery()),
                            headers(request),
                            body));
        } catch (RuntimeException | Error e) {
            LOG.error("the HTTP handler threw", e);
            return refusal(request, 500, Code.INTERNAL_ERROR, "the server has a fault");
        }
    }

    private HttpResponse refusal(Request request, int status, Code code, String message) {
        var why = new Failure(code, message);
        return handler.refuse(
                new Refusal(status, status == 503 ? why.retryAfter(RETRY) : why, path(request)));
    }

    private static Headers headers(Request request) {
        return new Headers(
                request.getHeaders().stream()
                        .map(
                                field ->
                                        new Headers.Field(
                                                field.getName(),
                                                field.getValue() == null ? "" : field.getValue()))
                        .toList());
    }

    static Optional<String> path(Request request) {
        return Optional.ofNullable(request.getHttpURI().getPath());
    }

    static void write(HttpResponse answer, Request request, Response response, Callback callback) {
        response.setStatus(answer.status());
        var headers = response.getHeaders();
        answer.headers().fields().forEach(field -> headers.add(field.name(), field.value()));
        var content =
                switch (answer.body()) {
                    case ResponseBody.None _ -> BufferUtil.EMPTY_BUFFER;
                    case ResponseBody.Bytes(byte[] bytes) -> ByteBuffer.wrap(bytes);
                };
        if (answer.status() != 204 && answer.status() != 304) {
            headers.put(HttpHeader.CONTENT_LENGTH, content.remaining());
        }
        var isHead = "HEAD".equals(request.getMethod());
        response.write(true, isHead ? BufferUtil.EMPTY_BUFFER : content, callback);
    }

    /// Makes room for the next request when the answer is out or the peer is gone.
    private final class Releasing extends Callback.Nested {
        Releasing(Callback callback) {
            super(callback);
        }

        @Override
        public void succeeded() {
            room.release();
            super.succeeded();
        }

        @Override
        public void failed(Throwable x) {
            room.release();
            super.failed(x);
        }
    }
}
