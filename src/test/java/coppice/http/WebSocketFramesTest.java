package coppice.http;

import static coppice.http.RawSocket.BINARY;
import static coppice.http.RawSocket.CLOSE;
import static coppice.http.RawSocket.CONTINUATION;
import static coppice.http.RawSocket.FIN;
import static coppice.http.RawSocket.PING;
import static coppice.http.RawSocket.PONG;
import static coppice.http.RawSocket.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Failure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What a peer may send, frame by frame.
class WebSocketFramesTest {
    private static final int MAX = 1 << 20;

    private final Sockets sockets = Sockets.echo();
    private HttpServer server;

    @BeforeEach
    void start() {
        var address = new InetSocketAddress("127.0.0.1", 0);
        server = HttpServer.start(address, HttpLimits.DEFAULT, sockets);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void messagesOfAnySizeAndCutArriveWholeAndInOrder() throws IOException {
        var random = Seed.random(WebSocketFramesTest.class);
        int[] sizes = {0, 1, 125, 126, 127, 65535, 65536, 65537, MAX - 1, MAX};
        try (var socket = open()) {
            for (int round = 0; round < 60; round++) {
                var bytes = new byte[round < sizes.length ? sizes[round] : random.nextInt(5000)];
                random.nextBytes(bytes);
                sendInParts(socket, bytes, random);
                var back = socket.message();
                assertEquals(BINARY, back.kind());
                assertArrayEquals(bytes, back.bytes());
            }
        }
    }

    private static void sendInParts(RawSocket socket, byte[] bytes, Random random)
            throws IOException {
        int at = 0;
        int kind = BINARY;
        for (int parts = random.nextInt(5); parts > 0; parts--) {
            int n = random.nextInt(bytes.length - at + 1);
            socket.send(kind, Arrays.copyOfRange(bytes, at, at + n));
            if (random.nextBoolean()) {
                socket.send(FIN | PING, new byte[random.nextInt(126)]);
            }
            kind = CONTINUATION;
            at += n;
        }
        socket.send(FIN | kind, Arrays.copyOfRange(bytes, at, bytes.length));
    }

    @Test
    void textIsUtf8EvenWhenACharacterIsCutInTwo() throws IOException {
        var bytes = "grüße 𝄞".getBytes(UTF_8);
        try (var socket = open()) {
            socket.send(TEXT, Arrays.copyOf(bytes, 3));
            socket.send(FIN | CONTINUATION, Arrays.copyOfRange(bytes, 3, bytes.length));
            assertEquals("grüße 𝄞", socket.message().text());
        }
    }

    @Test
    void aPingIsAnsweredWithItsOwnBytes() throws IOException {
        try (var socket = open()) {
            var pong = socket.send(FIN | PING, "here?".getBytes(UTF_8)).receive();
            assertEquals(PONG, pong.kind());
            assertEquals("here?", pong.text());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ff", "c0af", "eda080", "f4908080", "c3", "6162f0"})
    void textThatIsNoUtf8ClosesTheSocketAsBadData(String hex) throws Exception {
        try (var socket = open()) {
            var close = socket.send(FIN | TEXT, HexFormat.of().parseHex(hex)).message();
            assertEquals(CLOSE, close.kind());
            assertEquals(1007, close.code());
            assertClosed("closed 1007");
        }
    }

    @Test
    void aMessageBeyondTheLimitClosesWith1009HoweverItIsCut() throws Exception {
        try (var socket = open()) {
            socket.send(FIN | BINARY, new byte[MAX + 1]);
            assertEquals(1009, socket.message().code());
            assertClosed("closed 1009");
        }
        try (var socket = open()) {
            socket.send(BINARY, new byte[MAX]).send(CONTINUATION, new byte[1]);
            assertEquals(1009, socket.message().code());
            assertClosed("closed 1009");
        }
        try (var socket = open()) {
            socket.send(RawSocket.head(FIN | BINARY, Long.MAX_VALUE, true));
            assertEquals(1009, socket.message().code());
            assertClosed("closed 1009");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "unmasked, 8101 61",
        "reserved bit, c180 01020304",
        "compressed, c181 01020304 61",
        "unknown kind, 8380 01020304",
        "unknown control, 8b80 01020304",
        "continues nothing, 8080 01020304",
        "ping in parts, 0980 01020304",
        "long ping, 89fe 007e 01020304 61",
        "huge ping, 89ff 000000007ffffff0 01020304 61",
        "close with half a code, 8881 01020304 00",
        "close with a code that is none, 8882 01020304 02e5"
    })
    void aFrameThatIsAgainstTheProtocolClosesTheSocket(String what, String hex) throws Exception {
        try (var socket = open()) {
            socket.send(HexFormat.of().parseHex(hex.replace(" ", "")));
            var close = socket.message();
            assertEquals(1002, close.code(), what);
            assertClosed("closed 1002");
            assertEquals("", socket.peer().rest());
        }
    }

    @Test
    void aMessageInsideAMessageClosesTheSocket() throws IOException {
        try (var socket = open()) {
            socket.send(TEXT, new byte[0]).send(FIN | TEXT, new byte[0]);
            assertEquals(1002, socket.message().code());
        }
    }

    @Test
    void randomBytesDoNotStopTheServer() throws IOException {
        var random = Seed.random(WebSocketFramesTest.class);
        for (int round = 0; round < 100; round++) {
            var bytes = new byte[random.nextInt(400)];
            random.nextBytes(bytes);
            try (var socket = open()) {
                socket.send(bytes);
                socket.peer().endOutput().rest();
            }
        }
        try (var socket = open()) {
            assertEquals("on", socket.send(FIN | TEXT, "on".getBytes(UTF_8)).message().text());
        }
    }

    @Test
    void thePeersCloseIsAnsweredAndTold() throws Exception {
        try (var socket = open()) {
            var bye = new byte[] {0x0f, (byte) 0xa1, 'b', 'y', 'e'};
            assertEquals(4001, socket.send(FIN | CLOSE, bye).message().code());
            assertClosed("closed 4001 bye");
            assertEquals("", socket.peer().rest());
        }
    }

    @Test
    void aPeerThatVanishesIsTold() throws Exception {
        try (var socket = open()) {
            socket.peer().reset();
            assertClosed("closed 1006");
        }
        try (var socket = open()) {
            socket.send(BINARY, new byte[10]).peer().endOutput();
            assertClosed("closed 1006");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Upgrade, h2c, 426",
        "Connection, close, 426",
        "Sec-WebSocket-Version, 8, 426",
        "Sec-WebSocket-Key, short, 400",
        "Content-Length, 3, 400"
    })
    void theHandshakeIsCheckedBeforeAnythingIsDone(String name, String value, int status) {
        var headers = Headers.none();
        for (var line : RawSocket.ASK.split("\r\n")) {
            if (!line.startsWith(name + ":")) {
                headers = headers.and(line.replaceAll(":.*", ""), line.replaceAll(".*?: ", ""));
            }
        }
        var body = RequestBody.of(new byte[name.equals("Content-Length") ? 3 : 0]);
        var bad = headers.and(name, value);
        var failure =
                assertThrows(
                        Failure.class,
                        () ->
                                Handshake.check(
                                        new HttpRequest("GET", "/", Optional.empty(), bad, body)));
        assertEquals(status == 426 ? "UPGRADE_REQUIRED" : "BAD_REQUEST", failure.code().name());
    }

    @Test
    void aRequestThatAsksForNoWebSocketIsToldSo() throws Exception {
        for (var request :
                new String[] {
                    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
                    "GET /a HTTP/1.0\r\n" + RawSocket.ASK + "\r\n",
                    "POST /a HTTP/1.1\r\n" + RawSocket.ASK + "Content-Length: 0\r\n\r\n"
                }) {
            try (var peer = new RawPeer(server.port())) {
                var answer = peer.send(request).answer();
                assertEquals(426, answer.status(), request);
                assertEquals("closed 1006 the socket was not opened", sockets.next());
            }
        }
        try (var peer = new RawPeer(server.port())) {
            peer.send("GET /plain HTTP/1.1\r\n" + RawSocket.ASK + "\r\n");
            assertEquals(204, peer.answer().status());
        }
    }

    private RawSocket open() throws IOException {
        return RawSocket.open(server.port(), "/");
    }

    private void assertClosed(String wanted) throws InterruptedException {
        assertEquals("opened", sockets.next());
        var told = sockets.next();
        assertTrue(told.startsWith(wanted), told);
    }
}
