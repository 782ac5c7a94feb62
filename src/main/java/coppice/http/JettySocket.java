package coppice.http;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.OpCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One WebSocket on Jetty's frames. Frames arrive on threads of Jetty and are never waited with there: whole messages go to the
/// socket's own thread, and only when it has handled one is the next frame taken from the peer.
///
/// open → closing (a close frame was sent or received, or the handler failed) → closed (Jetty says so, once). Closing is bounded by
/// [WebSocketLimits#closeTime]. The thread ends with [WebSocketHandler#closed].
final class JettySocket implements FrameHandler, WebSocket {
    private static final Logger LOG = LoggerFactory.getLogger(JettySocket.class);

    private final WebSocketHandler handler;
    private final JettySockets all;
    private final WebSocketLimits limits;
    private final SocketMessages messages;
    private final Semaphore room;

    /// At most one message, since the next frame is asked for afterwards, and the end.
    private final LinkedBlockingQueue<SocketEvent> inbox = new LinkedBlockingQueue<>();

    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicBoolean demanding = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();

    /// When the last frame came, and when the last ping left; nanoseconds.
    private final AtomicLong heard = new AtomicLong();

    private final AtomicLong taken = new AtomicLong();
    private volatile boolean closed;
    private volatile CoreSession session;
    private volatile Scheduler.Task next = () -> false;

    JettySocket(WebSocketHandler handler, JettySockets all) {
        this.handler = handler;
        this.all = all;
        this.limits = all.limits();
        this.messages = new SocketMessages(limits.maxMessage());
        this.room = new Semaphore((int) limits.maxQueued().bytes());
    }

    @Override
    public void send(String message) {
        var frame = new Frame(OpCode.TEXT, message);
        send(frame);
    }

    @Override
    public void send(byte[] message) {
        send(new Frame(OpCode.BINARY, ByteBuffer.wrap(message)));
    }

    @Override
    public long queuedBytes() {
        return limits.maxQueued().bytes() - room.availablePermits();
    }

    @Override
    public void close(int code, String reason) {
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        session.close(new CloseStatus(code, shortened(reason)), Callback.NOOP);
        // The peer's answer must be read even while the handler is busy; messages on the way are
        // dropped.
        demand();
        schedule(this::cut, limits.closeTime());
    }

    /// In place of [#onOpen], when it does not come to that.
    void giveUp() {
        if (started.compareAndSet(false, true)) {
            tell(() -> handler.closed(CloseStatus.NO_CLOSE, "the socket was not opened"));
            all.ended(this);
        }
    }

    @Override
    public void onOpen(CoreSession opened, Callback callback) {
        session = opened;
        heard.set(System.nanoTime());
        taken.set(System.nanoTime());
        if (!started.compareAndSet(false, true)) {
            callback.failed(new IllegalStateException("opened after it was given up"));
            return;
        }
        callback.succeeded();
        try {
            all.threads().execute(this::run);
            schedule(this::beat, limits.pingTime());
        } catch (RejectedExecutionException _) {
            cut();
            tell(() -> handler.closed(CloseStatus.SHUTDOWN, "the server is stopping"));
            all.ended(this);
        }
    }

    @Override
    public void onFrame(Frame frame, Callback callback) {
        demanding.set(false);
        heard.set(System.nanoTime());
        switch (frame.getOpCode()) {
            case OpCode.PING -> pong(frame, callback);
            case OpCode.PONG -> {
                callback.succeeded();
                demand();
            }
            case OpCode.CLOSE -> {
                closing.set(true);
                schedule(this::cut, limits.closeTime());
                callback.succeeded();
            }
            default -> {
                // A failure of it is Jetty's to tell the peer, by the code that the exception has.
                var whole = messages.add(frame);
                callback.succeeded();
                if (whole.isEmpty() || closing.get()) {
                    demand();
                } else {
                    inbox.add(whole.get());
                }
            }
        }
    }

    @Override
    public void onError(Throwable cause, Callback callback) {
        LOG.debug("a WebSocket broke", cause);
        callback.succeeded();
    }

    @Override
    public void onClosed(CloseStatus status, Callback callback) {
        closed = true;
        closing.set(true);
        next.cancel();
        var reason = status.getReason();
        inbox.add(new SocketEvent.Closed(status.getCode(), reason == null ? "" : reason));
        callback.succeeded();
    }

    /// The socket's own thread.
    private void run() {
        Runnable whenDraining =
                () -> close(CloseStatus.SHUTDOWN, "the server is stopping; come back later");
        all.draining().tell(whenDraining);
        var end = new SocketEvent.Closed(CloseStatus.SHUTDOWN, "the server is stopping");
        try {
            tell(() -> handler.opened(this));
            demand();
            end = untilClosed();
        } catch (InterruptedException _) {
            cut();
        } finally {
            var last = end;
            tell(() -> handler.closed(last.code(), last.reason()));
            all.draining().forget(whenDraining);
            all.ended(this);
        }
    }

    private SocketEvent.Closed untilClosed() throws InterruptedException {
        while (true) {
            switch (inbox.take()) {
                case SocketEvent.Text(String message) -> tell(() -> handler.text(message));
                case SocketEvent.Binary(byte[] message) -> tell(() -> handler.binary(message));
                case SocketEvent.Closed end -> {
                    return end;
                }
            }
            demand();
        }
    }

    private void tell(Runnable call) {
        try {
            call.run();
        } catch (Failure e) {
            if (e.code() == Code.INTERNAL_ERROR) {
                LOG.error("a WebSocket's handler failed", e);
            }
            closeAfter(e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("a WebSocket's handler met a fault of ours", e);
            closeAfter("the server met a fault of its own");
        }
    }

    private void closeAfter(String reason) {
        if (session != null) {
            close(CloseStatus.SERVER_ERROR, reason);
        }
    }

    private void send(Frame frame) {
        // A message larger than the whole queue may go when that is empty.
        int size = (int) Math.min(frame.getPayloadLength(), limits.maxQueued().bytes());
        try {
            if (!room.tryAcquire(size, limits.sendTime().toNanos(), TimeUnit.NANOSECONDS)) {
                cut();
                throw gone("it takes nothing");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw gone("the server is stopping");
        }
        if (closing.get()) {
            room.release(size);
            throw gone("it was closed");
        }
        session.sendFrame(
                frame, Callback.from(() -> room.release(size), _ -> room.release(size)), false);
    }

    /// A peer that pings faster than it reads our pongs is not read from either.
    private void pong(Frame ping, Callback callback) {
        var payload = ByteBuffer.allocate(ping.getPayloadLength());
        if (ping.hasPayload()) {
            payload.put(ping.getPayload().slice()).flip();
        }
        callback.succeeded();
        session.sendFrame(
                new Frame(OpCode.PONG, payload), Callback.from(this::demand, _ -> {}), false);
    }

    private void beat() {
        var now = System.nanoTime();
        var patience = limits.pongTime().toNanos();
        if (!demanding.get()) {
            // Not its silence: the handler is busy, and nothing is read meanwhile.
            heard.set(now);
        } else if (now - heard.get() >= patience) {
            close(CloseStatus.POLICY_VIOLATION, "nothing was heard, not even a pong");
        }
        if (now - taken.get() >= patience + limits.pingTime().toNanos()) {
            cut();
        }
        synchronized (this) {
            if (closing.get()) {
                return;
            }
            schedule(this::beat, limits.pingTime());
        }
        session.sendFrame(
                new Frame(OpCode.PING),
                Callback.from(() -> taken.set(System.nanoTime()), _ -> {}),
                false);
    }

    private void demand() {
        if (!closed && demanding.compareAndSet(false, true)) {
            session.demand();
        }
    }

    private synchronized void schedule(Runnable act, Duration in) {
        next.cancel();
        next = all.timer().schedule(act, in.toMillis(), TimeUnit.MILLISECONDS);
        if (closed) {
            next.cancel();
        }
    }

    private void cut() {
        if (!closed) {
            session.abort();
        }
    }

    private static Failure gone(String why) {
        return new Failure(
                Code.UNAVAILABLE, "the WebSocket's peer is gone: %s; open it anew".formatted(why));
    }

    /// A close frame has room for 123 bytes.
    private static String shortened(String reason) {
        return reason.codePoints()
                .limit(30)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
