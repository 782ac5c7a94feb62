package coppice.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket.Listener;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@TestInstance(Lifecycle.PER_CLASS)
class TlsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private MadeCertificate first;
    private MadeCertificate second;
    private MadeCertificate rsa;
    private MadeCertificate expired;
    private Tls files;

    @BeforeAll
    void make(@TempDir Path directory) throws Exception {
        first = MadeCertificate.valid(directory, "EC");
        second = MadeCertificate.valid(directory, "EC");
        rsa = MadeCertificate.valid(directory, "RSA");
        expired = MadeCertificate.expired(directory);
    }

    @BeforeEach
    void write(@TempDir Path directory) throws Exception {
        files =
                new Tls(
                        directory.resolve("chain.pem"),
                        directory.resolve("key.pem"),
                        Duration.ofMillis(20));
        first.writeTo(files);
    }

    @ParameterizedTest
    @CsvSource({"'h2,http/1.1', h2", "'http/1.1,h2', h2", "h2, h2", "http/1.1, http/1.1", "'', ''"})
    void theProtocolIsTheBestThatTheClientOffers(String offered, String chosen) throws Exception {
        try (var server = start(new Echo());
                var socket = socket(server, first)) {
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(
                    offered.isEmpty() ? new String[0] : offered.split(","));
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            assertEquals(chosen, socket.getApplicationProtocol());
            if (!chosen.equals("h2")) {
                var request = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                var all = new String(socket.getInputStream().readAllBytes());
                assertTrue(all.startsWith("HTTP/1.1 200") && all.endsWith("GET /a - "), all);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"EC, TLSv1.2", "EC, TLSv1.3", "RSA, TLSv1.2", "RSA, TLSv1.3"})
    void keysOfBothKindsServeBothVersions(String kind, String version) throws Exception {
        var certificate = kind.equals("EC") ? first : rsa;
        certificate.writeTo(files);
        try (var server = start(new Echo());
                var client = client(certificate, version)) {
            var answer = client.send(request(server).build(), BodyHandlers.ofString());
            assertEquals(HttpClient.Version.HTTP_2, answer.version());
            assertEquals("GET /a - ", answer.body());
            assertEquals(version, answer.sslSession().orElseThrow().getProtocol());
        }
    }

    @Test
    void olderVersionsAreRefused() throws Exception {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            var hello = ByteBuffer.allocate(52);
            hello.put((byte) 22).putShort((short) 0x301).putShort((short) 47); // a record
            hello.putInt(1 << 24 | 43).putShort((short) 0x302); // a ClientHello for TLS 1.1
            hello.position(hello.position() + 32); // no randomness
            hello.put((byte) 0).putShort((short) 2).putShort((short) 0xc009); // one cipher suite
            hello.put((byte) 1).put((byte) 0).putShort((short) 0);
            var answer = peer.send(hello.array(), 0, hello.position()).read(7);
            assertArrayEquals(new byte[] {21, 3, 3, 0, 2, 2, 70}, answer); // protocol_version
        }
    }

    @Test
    void clearTextIsNotAnswered() throws Exception {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            var all = peer.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").rest();
            assertFalse(all.contains("HTTP"), all);
        }
    }

    @Test
    void aChangedCertificateIsUsedWithoutARestart() throws Exception {
        try (var server = start(new Echo())) {
            assertEquals(first.certificate(), shown(server, first));
            second.writeTo(files);
            assertEquals(second.certificate(), shownAtLast(server, second));
            assertThrows(SSLHandshakeException.class, () -> shown(server, first));
        }
    }

    @Test
    void filesThatCannotBeUsedChangeNothing() throws Exception {
        try (var server = start(new Echo())) {
            Files.delete(files.key());
            second.writeTo(files);
            assertEquals(second.certificate(), shownAtLast(server, second));
            Files.writeString(files.key(), "half a k");
            assertStays(second, server);
            expired.writeTo(files);
            assertStays(second, server);
            first.writeTo(files);
            assertEquals(first.certificate(), shownAtLast(server, first));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "chain, '', there is no certificate in",
        "chain, nonsense, are not valid PEM",
        "chain, two, are out of order",
        "chain, expired, renew it",
        "chain, second, is not that of the certificate",
        "chain, rsa, is no RSA key",
        "key, '', there is no plain PKCS#8 key",
        "key, nonsense, there is no plain PKCS#8 key",
        "key, cut, is no EC key"
    })
    void filesThatCannotBeUsedAreAFailureThatNamesThem(String file, String what, String message)
            throws Exception {
        var path = file.equals("chain") ? files.chain() : files.key();
        Files.writeString(
                path,
                switch (what) {
                    case "two" -> pem(first) + pem(second);
                    case "expired" -> pem(expired);
                    case "second" -> pem(second);
                    case "rsa" -> pem(rsa);
                    case "cut" -> MadeCertificate.pem("PRIVATE KEY", new byte[20]);
                    case "nonsense" ->
                            "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
                    default -> what;
                });
        var failure = assertThrows(Failure.class, () -> start(new Echo()));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().contains(message), failure.getMessage());
        assertTrue(failure.getMessage().contains(".pem"), failure.getMessage());
        Files.delete(path);
        var absent = assertThrows(Failure.class, () -> start(new Echo()));
        assertTrue(absent.getMessage().contains(path + " cannot be read"), absent.getMessage());
    }

    @Test
    void aHandshakeThatDoesNotEndInTimeEndsTheConnection() throws Exception {
        var d = HttpLimits.DEFAULT;
        var quick =
                new HttpLimits(
                        d.maxRequests(),
                        d.maxConnections(),
                        d.maxHead(),
                        Duration.ofMillis(300),
                        Duration.ofMinutes(5),
                        d.drainTime(),
                        d.sockets());
        try (var server = HttpServer.start(address(), quick, new Echo(), files);
                var silent = new RawPeer(server.port());
                var half = new RawPeer(server.port());
                var mute = socket(server, first)) {
            half.send("\u0016\u0003\u0001\u0000\u0080\u0001");
            var parameters = mute.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            mute.setSSLParameters(parameters);
            mute.startHandshake();
            silent.rest();
            half.rest();
            mute.getInputStream().readAllBytes(); // it never sent its preface
            assertEquals(first.certificate(), shown(server, first));
        }
    }

    @Test
    void bodiesOfSomeMebibytesArriveWholeBothWays() throws Exception {
        var bytes = new byte[5 << 20];
        Seed.random(TlsTest.class).nextBytes(bytes);
        var copy =
                new Streaming(
                        request -> {
                            var body = request.body().read(Size.ofMib(16), Deadline.in(PATIENCE));
                            return Streaming.stream(OptionalLong.empty(), s -> s.write(body));
                        });
        try (var server = start(copy);
                var client = client(first, "TLSv1.3")) {
            var request = request(server).POST(BodyPublishers.ofByteArray(bytes)).build();
            assertArrayEquals(bytes, client.send(request, BodyHandlers.ofByteArray()).body());
        }
    }

    @Test
    void webSocketsAreOpenedOverTls() throws Exception {
        var sockets = Sockets.echo();
        try (var server = HttpServer.start(address(), HttpLimits.DEFAULT, sockets, files);
                var client = client(first, "TLSv1.3")) {
            var socket =
                    client.newWebSocketBuilder()
                            .buildAsync(
                                    URI.create("wss://127.0.0.1:%d/".formatted(server.port())),
                                    new Listener() {})
                            .get(10, TimeUnit.SECONDS);
            assertEquals("opened", sockets.next());
            socket.abort();
        }
    }

    @Test
    void stoppingLetsARequestInProgressEnd() throws Exception {
        var echo = new Echo();
        var server = start(echo);
        try (var client = client(first, "TLSv1.3")) {
            var request =
                    java.net.http.HttpRequest.newBuilder(
                                    URI.create(
                                            "https://127.0.0.1:%d/wait".formatted(server.port())))
                            .build();
            var answer = client.sendAsync(request, BodyHandlers.ofString());
            echo.arrived.await();
            var stop = Thread.ofVirtual().start(server::close);
            assertFalse(stop.join(Duration.ofMillis(1500)));
            echo.release.countDown();
            assertEquals("GET /wait - ", answer.get(10, TimeUnit.SECONDS).body());
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    private static String pem(MadeCertificate made) throws Exception {
        return MadeCertificate.pem("CERTIFICATE", made.certificate().getEncoded());
    }

    /// The certificate that a client gets which trusts that one only.
    private static Certificate shown(HttpServer server, MadeCertificate trusted) throws Exception {
        try (var socket = socket(server, trusted)) {
            socket.startHandshake();
            return socket.getSession().getPeerCertificates()[0];
        }
    }

    /// For many times as long as it takes to read the files.
    private void assertStays(MadeCertificate made, HttpServer server) throws Exception {
        var deadline = Deadline.in(files.checkTime().multipliedBy(10));
        while (!deadline.isPast()) {
            assertEquals(made.certificate(), shown(server, made));
        }
    }

    private static Certificate shownAtLast(HttpServer server, MadeCertificate trusted)
            throws Exception {
        var deadline = Deadline.in(PATIENCE);
        while (true) {
            try {
                return shown(server, trusted);
            } catch (IOException e) {
                if (deadline.isPast()) {
                    throw e;
                }
            }
        }
    }

    private static SSLSocket socket(HttpServer server, MadeCertificate trusted) throws Exception {
        var socket =
                (SSLSocket)
                        trusted.trust().getSocketFactory().createSocket("127.0.0.1", server.port());
        socket.setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
        return socket;
    }

    private static HttpClient client(MadeCertificate trusted, String version) throws Exception {
        var context = trusted.trust();
        var parameters = context.getDefaultSSLParameters();
        parameters.setProtocols(new String[] {version});
        return HttpClient.newBuilder().sslContext(context).sslParameters(parameters).build();
    }

    private static java.net.http.HttpRequest.Builder request(HttpServer server) {
        return java.net.http.HttpRequest.newBuilder(
                URI.create("https://127.0.0.1:%d/a".formatted(server.port())));
    }

    private HttpServer start(HttpHandler handler) {
        return HttpServer.start(address(), HttpLimits.DEFAULT, handler, files);
    }

    private static InetSocketAddress address() {
        return new InetSocketAddress("127.0.0.1", 0);
    }
}
