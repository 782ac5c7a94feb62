package coppice.http;

import coppice.base.Size;
import org.eclipse.jetty.http2.HTTP2Cipher;
import org.eclipse.jetty.http2.SessionContainer;
import org.eclipse.jetty.http2.generator.Generator;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.internal.HTTP2ServerConnection;
import org.eclipse.jetty.http2.server.internal.HTTP2ServerSession;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.WindowRateControl;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;

/// Makes the connections of HTTP/2, RFC 9113, and holds them to limits that HTTP/1.1 has no need of.
///
/// A peer that goes beyond one is sent GOAWAY and cut off, and no other is affected.
final class JettyHttp2 extends HTTP2CServerConnectionFactory {
    static final String CLEAR = "h2c";
    static final String OVER_TLS = "h2";

    private static final int MAX_STREAMS = 128;

    /// Of frames that cost us more than their sender, such as RST_STREAM, PING, SETTINGS and empty ones.
    private static final int MAX_FRAMES_A_SECOND = 128;

    /// What a peer may send of bodies before they are read: some megabytes a second from far away, and no harm from a thousand peers.
    private static final Size STREAM_WINDOW = new Size(128 << 10);

    private static final Size CONNECTION_WINDOW = new Size(256 << 10);

    JettyHttp2(HttpConfiguration configuration, String protocol) {
        super(configuration, protocol);
        setMaxConcurrentStreams(MAX_STREAMS);
        setRateControlFactory(new WindowRateControl.Factory(MAX_FRAMES_A_SECOND));
        setInitialStreamRecvWindow((int) STREAM_WINDOW.bytes());
        setInitialSessionRecvWindow((int) CONNECTION_WINDOW.bytes());
        setFlowControlStrategyFactory(JettyWindows::new);
        // WebSockets are made of HTTP/1.1 only.
        setConnectProtocolEnabled(false);
    }

    /// Says GOAWAY to all peers: what they ask from here on is not answered, what they have asked is.
    void drain() {
        getBean(SessionContainer.class).shutdown();
    }

    @Override
    public boolean isAcceptable(String protocol, String tlsProtocol, String tlsCipher) {
        return protocol.equals(OVER_TLS)
                && !(HTTP2Cipher.isBlackListProtocol(tlsProtocol)
                        && HTTP2Cipher.isBlackListCipher(tlsCipher));
    }

    /// As the inherited one, which has no place for a parser of ours.
    @Override
    public Connection newConnection(Connector connector, EndPoint endPoint) {
        var listener = newSessionListener(connector, endPoint);
        var http = getHttpConfiguration();
        var buffers = connector.getByteBufferPool();
        var generator =
                new Generator(buffers, isUseOutputDirectByteBuffers(), getMaxHeaderBlockFragment());
        generator.getHpackEncoder().setMaxHeaderListSize(http.getMaxResponseHeaderSize());
        var frames =
                new JettyFrames(
                        buffers,
                        http.getRequestHeaderSize(),
                        getRateControlFactory().newRateControl(endPoint));
        frames.setMaxSettingsKeys(getMaxSettingsKeys());
        var session =
                new HTTP2ServerSession(
                        connector.getScheduler(),
                        endPoint,
                        frames,
                        generator,
                        listener,
                        getFlowControlStrategyFactory().newFlowControlStrategy());
        session.setMaxLocalStreams(getMaxConcurrentStreams());
        session.setMaxRemoteStreams(getMaxConcurrentStreams());
        session.setMaxEncoderTableCapacity(getMaxEncoderTableCapacity());
        session.setStreamIdleTimeout(endPoint.getIdleTimeout());
        session.setInitialSessionRecvWindow(getInitialSessionRecvWindow());
        session.setWriteThreshold(http.getOutputBufferSize());
        session.setConnectProtocolEnabled(isConnectProtocolEnabled());
        var connection = new HTTP2ServerConnection(connector, endPoint, http, session, listener);
        connection.setUseInputDirectByteBuffers(isUseInputDirectByteBuffers());
        connection.setUseOutputDirectByteBuffers(isUseOutputDirectByteBuffers());
        connection.addEventListener(getBean(SessionContainer.class));
        frames.init(connection);
        return configure(connection, connector, endPoint);
    }
}
