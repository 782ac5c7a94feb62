package coppice.http;

import coppice.base.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.websocket.core.Configuration;
import org.eclipse.jetty.websocket.core.WebSocketComponents;
import org.eclipse.jetty.websocket.core.server.Handshaker;
import org.eclipse.jetty.websocket.core.server.ServerUpgradeResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All open WebSockets: makes them of requests, and ends them when the server stops.
final class JettySockets {
    private static final Logger LOG = LoggerFactory.getLogger(JettySockets.class);

    private final WebSocketLimits limits;
    private final Scheduler timer;
    private final ExecutorService threads;
    private final Draining draining;
    private final Handshaker handshaker = Handshaker.newInstance();
    private final WebSocketComponents components;
    private final Semaphore room;
    private final Set<JettySocket> open = ConcurrentHashMap.newKeySet();

    JettySockets(
            WebSocketLimits limits,
            Scheduler timer,
            ExecutorService threads,
            Draining draining,
            ByteBufferPool buffers) {
        this.limits = limits;
        this.timer = timer;
        this.threads = threads;
        this.draining = draining;
        this.components = new WebSocketComponents(null, null, buffers, null, null, threads);
        this.room = new Semaphore(limits.maxOpen());
    }

    WebSocketLimits limits() {
        return limits;
    }

    Scheduler timer() {
        return timer;
    }

    ExecutorService threads() {
        return threads;
    }

    Draining draining() {
        return draining;
    }

    WebSocketComponents components() {
        return components;
    }

    boolean isFull() {
        return room.availablePermits() == 0;
    }

    /// Answers the request with 101 and completes `callback`, or returns false, and then `handler` is done with.
    boolean upgrade(
            WebSocketHandler handler, Request request, Response response, Callback callback) {
        var socket = new JettySocket(handler, this);
        if (!room.tryAcquire()) {
            socket.giveUp();
            return false;
        }
        open.add(socket);
        var isTaken = false;
        try {
            isTaken =
                    handshaker.upgradeRequest(
                            (_, answer, _) -> plain(socket, answer),
                            new Elsewhere(request),
                            response,
                            new OrGiveUp(callback, socket),
                            components,
                            this::configure);
            return isTaken;
        } finally {
            if (!isTaken) {
                socket.giveUp();
                ended(socket);
            }
        }
    }

    /// Called by each socket when nothing of it runs any more.
    void ended(JettySocket socket) {
        if (open.remove(socket)) {
            room.release();
        }
    }

    /// Asks all peers to go, and waits for that.
    void drain(Deadline deadline) {
        try {
            if (!room.tryAcquire(
                    limits.maxOpen(), deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.warn("cutting {} WebSockets that did not close in time", open.size());
                return;
            }
            room.release(limits.maxOpen());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// No compression: it costs memory for each socket, and a terminal's bytes are few.
    private static JettySocket plain(JettySocket socket, ServerUpgradeResponse answer) {
        answer.setExtensions(List.of());
        return socket;
    }

    private void configure(Configuration session) {
        session.setIdleTimeout(Duration.ZERO);
        // Frames of any size are handed on in parts as they arrive, and counted by the socket.
        session.setAutoFragment(true);
    }

    /// A request with an address that Jetty can make a [java.net.URI] of, which not every one is that we understand.
    private static final class Elsewhere extends Request.Wrapper {
        Elsewhere(Request request) {
            super(request);
        }

        @Override
        public HttpURI getHttpURI() { // tidy: the name is Jetty's
            return HttpURI.from("ws://socket/");
        }
    }

    private static final class OrGiveUp extends Callback.Nested {
        private final JettySocket socket;

        OrGiveUp(Callback callback, JettySocket socket) {
            super(callback);
            this.socket = socket;
        }

        @Override
        public void failed(Throwable why) {
            socket.giveUp();
            super.failed(why);
        }
    }
}
