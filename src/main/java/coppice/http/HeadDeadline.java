package coppice.http;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.NegotiatingServerConnection;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;

/// Closes connections whose request head does not arrive in time.
///
/// Jetty only limits the silence between two bytes, so a peer that sends a byte now and then could hold a connection for days.
/// Runs on Jetty's timer thread. Looks into an internal class of Jetty: nothing public tells where the parser of HTTP/1.1 stands.
final class HeadDeadline extends AbstractLifeCycle {
    private final ServerConnector connector;
    private final Duration limit;
    private final Map<EndPoint, Pending> pending = new HashMap<>();
    private volatile Scheduler.Task next = () -> false;

    private record Pending(long head, long sinceNanos) {}

    HeadDeadline(ServerConnector connector, Duration limit) {
        this.connector = connector;
        this.limit = limit;
    }

    @Override
    protected void doStart() {
        schedule();
    }

    @Override
    protected void doStop() {
        next.cancel();
    }

    private void schedule() {
        next =
                connector
                        .getScheduler()
                        .schedule(this::sweep, limit.toMillis() / 4 + 1, TimeUnit.MILLISECONDS);
    }

    private void sweep() {
        try {
            closeLate();
        } finally {
            if (isRunning()) {
                schedule();
            }
        }
    }

    private void closeLate() {
        var now = System.nanoTime();
        var endPoints = connector.getConnectedEndPoints();
        pending.keySet().retainAll(endPoints);
        for (var endPoint : endPoints) {
            var head = head(endPoint.getConnection());
            if (head.isEmpty()) {
                pending.remove(endPoint);
                continue;
            }
            var number = head.getAsLong();
            var since =
                    pending.compute(
                            endPoint,
                            (_, before) ->
                                    before != null && before.head == number
                                            ? before
                                            : new Pending(number, now));
            if (now - since.sinceNanos > limit.toNanos()) {
                endPoint.close();
            }
        }
    }

    /// The number of the head that has begun and not ended.
    private static OptionalLong head(Connection connection) {
        return switch (connection) {
            case HttpConnection http1 when isInHead(http1) ->
                    OptionalLong.of(http1.getMessagesIn());
            case HTTP2Connection http2
                    when http2.getSession().getParser() instanceof JettyFrames frames ->
                    frames.head();
            case SslConnection tls -> head(tls.getSslEndPoint().getConnection());
            // It is replaced at the end of the handshake.
            case NegotiatingServerConnection _ -> OptionalLong.of(-1);
            default -> OptionalLong.empty();
        };
    }

    private static boolean isInHead(HttpConnection connection) {
        var parser = connection.getParser();
        return parser.inHeaderState() && !parser.isStart();
    }
}
