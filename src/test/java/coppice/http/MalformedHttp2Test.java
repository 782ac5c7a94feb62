package coppice.http;

import static coppice.http.Http2Peer.DATA;
import static coppice.http.Http2Peer.END_HEADERS;
import static coppice.http.Http2Peer.END_STREAM;
import static coppice.http.Http2Peer.GOAWAY;
import static coppice.http.Http2Peer.HEADERS;
import static coppice.http.Http2Peer.NO_FLAGS;
import static coppice.http.Http2Peer.PING;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What is no request of HTTP/2, although it may look like one to somebody else.
class MalformedHttp2Test {
    private HttpServer server;

    @BeforeEach
    void start() {
        var address = new InetSocketAddress("127.0.0.1", 0);
        server = HttpServer.start(address, HttpLimits.DEFAULT, new Echo());
    }

    @AfterEach
    void stop() throws IOException {
        try (var proper = Http2Peer.connected(server.port())) {
            assertTrue(proper.get(1, "/on").isAnswered(1));
        }
        server.close();
    }

    /// Each with one thing wrong, and a body of three bytes after it.
    private static Stream<byte[]> malformedHeads() {
        var proper = Http2Peer.head("POST", "/a");
        return Stream.of(
                Http2Peer.join(proper, Http2Peer.field("x", "a\r\nb: c")),
                Http2Peer.join(proper, Http2Peer.field("x", "a\0b")),
                Http2Peer.join(proper, Http2Peer.field("x\r\nb", "a")),
                Http2Peer.join(proper, Http2Peer.field("x y", "a")),
                Http2Peer.join(proper, Http2Peer.field("", "a")),
                Http2Peer.join(proper, Http2Peer.field("X", "a")),
                Http2Peer.join(proper, Http2Peer.field("connection", "close")),
                Http2Peer.join(proper, Http2Peer.field("transfer-encoding", "chunked")),
                Http2Peer.join(proper, Http2Peer.field("te", "gzip")),
                Http2Peer.join(proper, Http2Peer.field("content-length", "x")),
                Http2Peer.join(proper, Http2Peer.field("content-length", "4")),
                Http2Peer.join(
                        proper,
                        Http2Peer.field("content-length", "3"),
                        Http2Peer.field("content-length", "4")),
                Http2Peer.join(proper, Http2Peer.field(":path", "/b")),
                Http2Peer.join(
                        proper, Http2Peer.field("x", "a"), Http2Peer.field(":method", "GET")),
                Http2Peer.join(proper, Http2Peer.field(":status", "200")),
                Http2Peer.join(proper, Http2Peer.field(":other", "a")),
                Http2Peer.head("POST", ""),
                Http2Peer.head("POST", "a"),
                Http2Peer.head("POST", "/a b"),
                Http2Peer.head("POST", "/a?\t"),
                Http2Peer.head("POST", "/\u007f"),
                Http2Peer.join(
                        proper,
                        Http2Peer.field("upgrade", "websocket"),
                        Http2Peer.field("connection", "upgrade")),
                Http2Peer.head("POST", "/a\r\nb"),
                Http2Peer.head("POST", "/%"),
                new byte[] {(byte) 0x83, (byte) 0x86},
                new byte[] {(byte) 0x86, (byte) 0x84},
                Http2Peer.join(proper, new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff}),
                new byte[0]);
    }

    @ParameterizedTest
    @MethodSource("malformedHeads")
    void aMalformedRequestNeverReachesTheHandler(byte[] head) throws IOException {
        try (var peer = Http2Peer.connected(server.port())) {
            peer.send(HEADERS, END_HEADERS, 1, head);
            peer.send(DATA, END_STREAM, 1, new byte[3]);
            var answer = peer.next().orElseThrow();
            while (answer.stream() != 1 && answer.type() != GOAWAY) {
                answer = peer.next().orElseThrow();
            }
            if (answer.type() == HEADERS) {
                assertFalse(answer.isOk());
                var body = peer.next(DATA).payload();
                assertEquals("refused BAD_REQUEST", new String(body, ISO_8859_1));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP2-Settings: !!!\r\n\r\n",
                "HTTP2-Settings: AAM\r\n\r\n",
                "HTTP2-Settings: AAQAAP\r\n\r\n",
                "\r\n",
                "HTTP2-Settings: AAMAAABk\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "17\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n",
                "HTTP2-Settings: AAMAAABk\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
            })
    void anUpgradeThatIsAskedForWronglyIsNoWayIn(String rest) throws IOException {
        try (var peer = new RawPeer(server.port())) {
            peer.send("POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n");
            var all = peer.send("Upgrade: h2c\r\n" + rest).endOutput().rest();
            assertFalse(all.contains("/b"), all);
        }
    }

    @Test
    void whatIsNoPrefaceIsCutOff() throws IOException {
        try (var peer = Http2Peer.silent(server.port())) {
            peer.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".getBytes(ISO_8859_1)).untilClosed();
        }
        try (var peer = Http2Peer.silent(server.port())) {
            peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
            assertTrue(peer.send(PING, NO_FLAGS, 0, new byte[8]).untilClosed().isPresent());
        }
    }
}
