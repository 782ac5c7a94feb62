package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private static final String FAULT = "the server has a fault";
    private static final String TOO_MANY_SOCKETS =
            "too many WebSockets are open at once; try again, or close some";

    private final HttpHandler handler;
    private final HttpLimits limits;
    private final Semaphore room;
    private final Draining draining;
    private final JettySockets sockets;
    private final JettyAnswers answers;

    JettyHandler(
            HttpHandler handler,
            HttpLimits limits,
            Draining draining,
            JettySockets sockets,
            JettyAnswers answers) {
        this.handler = handler;
        this.answers = answers;
        this.limits = limits;
        this.room = new Semaphore(limits.maxRequests());
        this.draining = draining;
        this.sockets = sockets;
    }

    /// Waits for the requests in progress; further ones are refused by then.
    void drain(Deadline deadline) {
        try {
            if (!room.tryAcquire(
                    limits.maxRequests(), deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.warn(
                        "cutting {} HTTP requests that did not end in time",
                        limits.maxRequests() - room.availablePermits());
                return;
            }
            room.release(limits.maxRequests());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        // The idle time is for peers that keep us waiting, not for work that takes long.
        request.addIdleTimeoutListener(_ -> false);
        var malformed = malformed(request);
        if (malformed.isPresent()) {
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            var answer = refusal(request, 400, Code.BAD_REQUEST, malformed.get());
            answers.write(answer, request, response, callback);
        } else if (draining.hasBegun()) {
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            var answer =
                    refusal(request, 503, Code.UNAVAILABLE, "the server is stopping; try again");
            answers.write(answer, request, response, callback);
        } else if (!room.tryAcquire()) {
            var answer =
                    refusal(request, 503, Code.UNAVAILABLE, "too many requests at once; try again");
            answers.write(answer, request, response, callback);
        } else {
            answer(request, response, new Releasing(callback));
        }
        return true;
    }

    /// What Jetty lets pass. It reads chunks of an HTTP/1.0 request, where a proxy in front may see a body without end: RFC 9112, 6.1.
    /// The fields and targets of HTTP/2 must mean the same to whoever translates them: RFC 9113, 8.2.2 and 8.3.1.
    private static Optional<String> malformed(Request request) {
        var version = request.getConnectionMetaData().getHttpVersion();
        var hasChunks = request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
        if (version == HttpVersion.HTTP_1_0 && hasChunks) {
            return Optional.of("HTTP/1.0 has no chunks; use HTTP/1.1");
        }
        if (!isHttp2(request)) {
            return Optional.empty();
        }
        if (hasChunks) {
            return Optional.of("HTTP/2 has no chunks; send no Transfer-Encoding");
        }
        var target = request.getHttpURI().getPathQuery();
        return target != null && target.chars().anyMatch(c -> c <= ' ' || c == 0x7f)
                ? Optional.of("a path has no spaces; percent-encode them")
                : Optional.empty();
    }

    private void answer(Request request, Response response, Releasing callback) {
        try {
            var body = new JettyBody(request);
            var answer = answer(request, body);
            // A peer still sending when its connection is closed may never see our answer.
            body.discard();
            switch (answer.body()) {
                case ResponseBody.None _, ResponseBody.Bytes _ -> {
                    answers.write(answer, request, response, callback);
                    if (isHttp2(request)) {
                        callback.letGo(); // it is counted among the answers by now, for who drains
                    }
                }
                case ResponseBody.Stream stream ->
                        stream(answer, stream, request, response, callback);
                case ResponseBody.Upgrade upgrade ->
                        upgrade(answer, upgrade, request, response, callback);
            }
        } catch (Throwable e) {
            callback.failed(e);
            throw e;
        }
    }

    private void stream(
            HttpResponse answer,
            ResponseBody.Stream stream,
            Request request,
            Response response,
            Callback callback) {
        var sink = new JettyStream(response, stream.length(), limits.idleTime(), draining);
        try (var writer = stream.writer()) {
            JettyAnswers.head(answer, response);
            stream.length().ifPresent(n -> response.getHeaders().put(HttpHeader.CONTENT_LENGTH, n));
            if ("HEAD".equals(request.getMethod())) {
                response.write(true, BufferUtil.EMPTY_BUFFER, callback);
                return;
            }
            writer.write(sink);
            sink.end();
        } catch (Throwable e) {
            if (sink.isGone()) {
                callback.failed(e);
            } else if (response.isCommitted()) {
                logCut(e);
                callback.failed(e);
            } else {
                response.reset();
                answers.write(replacement(request, e), request, response, callback);
            }
            return;
        } finally {
            sink.forget();
        }
        callback.succeeded();
    }

    /// The answer in place of a streamed one of which nothing was sent.
    private HttpResponse replacement(Request request, Throwable e) {
        if (e instanceof Failure why && !isOurs(why)) {
            return handler.refuse(new Refusal(OptionalInt.empty(), why, path(request)));
        }
        LOG.error("the writer of an answer threw", e);
        return refusal(request, 500, Code.INTERNAL_ERROR, FAULT);
    }

    private static void logCut(Throwable why) {
        if (isOurs(why)) {
            LOG.error("an answer was cut off in the middle by a fault of ours", why);
        } else {
            LOG.warn("an answer was cut off in the middle: {}", why.getMessage());
        }
    }

    /// A failure is something that the world did; anything else is our fault.
    private static boolean isOurs(Throwable why) {
        return !(why instanceof Failure failure) || failure.code() == Code.INTERNAL_ERROR;
    }

    private void upgrade(
            HttpResponse answer,
            ResponseBody.Upgrade upgrade,
            Request request,
            Response response,
            Callback callback) {
        JettyAnswers.addHeaders(answer, response);
        if (!sockets.upgrade(upgrade.handler(), request, response, callback)) {
            response.reset();
            var refusal =
                    sockets.isFull()
                            ? refusal(request, 503, Code.UNAVAILABLE, TOO_MANY_SOCKETS)
                            : refusal(
                                    request,
                                    426,
                                    Code.UPGRADE_REQUIRED,
                                    "this path is a WebSocket; open it as one, with Upgrade: websocket");
            answers.write(refusal, request, response, callback);
        }
    }

    private HttpResponse answer(Request request, JettyBody body) {
        try {
            var asked =
                    new HttpRequest(
                            request.getMethod(),
                            path(request).orElse(""),
                            Optional.ofNullable(request.getHttpURI().getQuery()),
                            headers(request),
                            body,
                            peer(request));
            // Before anything is done for a socket that there is no room for.
            return Handshake.isAsked(asked) && sockets.isFull()
                    ? refusal(request, 503, Code.UNAVAILABLE, TOO_MANY_SOCKETS)
                    : handler.handle(asked);
        } catch (RuntimeException | Error e) {
            LOG.error("the HTTP handler threw", e);
            return refusal(request, 500, Code.INTERNAL_ERROR, FAULT);
        }
    }

    private HttpResponse refusal(Request request, int status, Code code, String message) {
        var why = new Failure(code, message);
        return handler.refuse(
                new Refusal(status, status == 503 ? why.retryAfter(RETRY) : why, path(request)));
    }

    private static Headers headers(Request request) {
        var version = request.getConnectionMetaData().getHttpVersion();
        var headers = new ArrayList<Headers.Field>();
        for (var field : request.getHeaders()) {
            // Only HTTP/1.1 has an upgrade. HTTP/1.0 says nothing when it asks for one: RFC 9110,
            // 7.8.
            if (version == HttpVersion.HTTP_1_1 || field.getHeader() != HttpHeader.UPGRADE) {
                headers.add(
                        new Headers.Field(
                                field.getName(), field.getValue() == null ? "" : field.getValue()));
            }
        }
        var authority = request.getHttpURI().getAuthority();
        if (isHttp2(request)
                && authority != null
                && !request.getHeaders().contains(HttpHeader.HOST)) {
            headers.add(new Headers.Field("Host", authority));
        }
        return new Headers(headers);
    }

    static boolean isHttp2(Request request) {
        return request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2;
    }

    private static Optional<InetAddress> peer(Request request) {
        return request.getConnectionMetaData().getRemoteSocketAddress()
                        instanceof InetSocketAddress address
                ? Optional.ofNullable(address.getAddress())
                : Optional.empty();
    }

    static Optional<String> path(Request request) {
        return Optional.ofNullable(request.getHttpURI().getPath());
    }

    /// Makes room for the next request when the answer is out or the peer is gone, or before.
    private final class Releasing extends Callback.Nested {
        private final AtomicBoolean holds = new AtomicBoolean(true);

        Releasing(Callback callback) {
            super(callback);
        }

        void letGo() {
            if (holds.getAndSet(false)) {
                room.release();
            }
        }

        @Override
        public void succeeded() {
            letGo();
            super.succeeded();
        }

        @Override
        public void failed(Throwable x) {
            letGo();
            super.failed(x);
        }
    }
}
