package coppice.http;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// A server of HTTP/1.1 and HTTP/2 on one address. Runs from [#start] until [#stop] or [#close].
///
/// Stopping has two steps: first no connection and no request is accepted any more, while those in progress go on to their end
/// or the deadline, and WebSockets are asked to close; then what is left is cut.
public final class HttpServer implements AutoCloseable {
    /// Jetty's own threads only accept, select and time out: handlers run on virtual threads.
    private static final int MAX_PLATFORM_THREADS = 8;

    private static final int MIN_PLATFORM_THREADS = 3;

    /// As ALPN spells it, RFC 7301, 6.
    private static final String HTTP_1 = "http/1.1";

    private static final Size POOLED_BUFFERS = Size.ofMib(8);
    private static final Duration CUT_TIME = Duration.ofSeconds(1);

    private final Server server;
    private final ServerConnector connector;
    private final Draining draining = new Draining();
    private final JettySockets sockets;
    private final JettyAnswers answers = new JettyAnswers();
    private final JettyHandler requests;
    private final ExecutorService threads;
    private final HttpLimits limits;

    private HttpServer(
            InetSocketAddress address,
            HttpLimits limits,
            HttpHandler handler,
            List<ConnectionFactory> protocols) {
        this.limits = limits;
        this.threads =
                Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("conn-", 0).factory());
        var pool = new QueuedThreadPool(MAX_PLATFORM_THREADS, MIN_PLATFORM_THREADS);
        pool.setName("http");
        pool.setReservedThreads(0);
        pool.setVirtualThreadsExecutor(threads);
        var buffers =
                new ArrayByteBufferPool(
                        0, 4096, 65536, 64, POOLED_BUFFERS.bytes(), POOLED_BUFFERS.bytes());
        this.server = new Server(pool, null, buffers);
        this.connector =
                new ServerConnector(server, 1, 1, protocols.toArray(ConnectionFactory[]::new));
        connector.setHost(address.getHostString());
        connector.setPort(address.getPort());
        connector.setIdleTimeout(limits.idleTime().toMillis());
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(limits.maxConnections(), connector));
        server.addBean(new HeadDeadline(connector, limits.headTime()));
        this.sockets =
                new JettySockets(
                        limits.sockets(), connector.getScheduler(), threads, draining, buffers);
        server.addBean(sockets.components());
        this.requests = new JettyHandler(handler, limits, draining, sockets, answers);
        server.setHandler(requests);
        server.setErrorHandler(new JettyErrors(handler, answers));
        server.setStopTimeout(0);
    }

    /// Listens at once, in clear text. Port 0 takes a free one, see [#port].
    ///
    /// @throws Failure [Code#UNAVAILABLE] when the address cannot be listened on.
    public static HttpServer start(
            InetSocketAddress address, HttpLimits limits, HttpHandler handler) {
        var http = configuration(limits);
        return start(
                address,
                limits,
                handler,
                List.of(new HttpConnectionFactory(http), new JettyHttp2(http, JettyHttp2.CLEAR)));
    }

    /// The same over TLS, and nothing in clear text.
    ///
    /// @throws Failure also [Code#BAD_REQUEST] when the files cannot be used.
    public static HttpServer start(
            InetSocketAddress address, HttpLimits limits, HttpHandler handler, Tls tls) {
        var http1 = new HttpConnectionFactory(configuration(limits));
        var http2 = new JettyHttp2(http1.getHttpConfiguration(), JettyHttp2.OVER_TLS);
        var alpn = new ALPNServerConnectionFactory(JettyHttp2.OVER_TLS, HTTP_1);
        alpn.setDefaultProtocol(HTTP_1);
        var certificate = new JettyTls(tls);
        var first = new SslConnectionFactory(certificate.context(), alpn.getProtocol());
        first.addBean(certificate);
        // It would refuse whoever comes by an address or a name that is not in the certificate, and
        // it is the client who has to judge that.
        first.setEnsureSecureRequestCustomizer(false);
        return start(address, limits, handler, List.of(first, alpn, http2, http1));
    }

    private static HttpServer start(
            InetSocketAddress address,
            HttpLimits limits,
            HttpHandler handler,
            List<ConnectionFactory> protocols) {
        var server = new HttpServer(address, limits, handler, protocols);
        try {
            server.server.start();
            return server;
        } catch (Exception e) {
            server.cut();
            throw new Failure(
                    Code.UNAVAILABLE,
                    "cannot listen on %s:%d; free the port or choose another"
                            .formatted(address.getHostString(), address.getPort()),
                    e);
        }
    }

    public int port() {
        return connector.getLocalPort();
    }

    /// Both steps; returns when nothing of the server runs any more.
    public void stop(Deadline deadline) {
        connector.close();
        draining.begin();
        connector.getConnectionFactory(JettyHttp2.class).drain();
        requests.drain(deadline);
        answers.drain(deadline);
        sockets.drain(deadline);
        cut();
    }

    @Override
    public void close() {
        stop(Deadline.in(limits.drainTime()));
    }

    private void cut() {
        connector.setShutdownIdleTimeout(CUT_TIME.toMillis());
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the HTTP server did not stop", e);
        } finally {
            threads.shutdownNow();
        }
    }

    private static HttpConfiguration configuration(HttpLimits limits) {
        var http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setRequestHeaderSize((int) limits.maxHead().bytes());
        // The fields that a peer sends again and again would be kept for each connection: 98 KB,
        // also
        // while it is idle.
        http.setHeaderCacheSize(0);
        // Nothing that two readers could understand differently: it may have passed a proxy.
        http.setHttpCompliance(
                HttpCompliance.RFC9110.without(
                        "Coppice",
                        HttpCompliance.Violation.LF_HEADER_TERMINATION,
                        HttpCompliance.Violation.LF_CHUNK_TERMINATION));
        // Paths are routed as sent and decoded by segment afterwards, so no form of them is
        // ambiguous here.
        http.setUriCompliance(UriCompliance.from(EnumSet.allOf(UriCompliance.Violation.class)));
        return http;
    }
}
