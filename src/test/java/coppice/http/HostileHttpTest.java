package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(Lifecycle.PER_CLASS)
class HostileHttpTest {
    private HttpServer server;

    @BeforeAll
    void start() {
        server =
                HttpServer.start(
                        new InetSocketAddress("127.0.0.1", 0),
                        HttpLimits.DEFAULT,
                        new HttpHandler() {
                            @Override
                            public HttpResponse handle(HttpRequest request) {
                                try {
                                    request.body()
                                            .read(
                                                    Size.ofMib(1),
                                                    Deadline.in(Duration.ofSeconds(2)));
                                } catch (Failure e) {
                                    return refuse(new Refusal(400, e, Optional.empty()));
                                }
                                return HttpResponse.of(200, "text/plain", "fine".getBytes(UTF_8));
                            }

                            @Override
                            public HttpResponse refuse(Refusal refusal) {
                                return HttpResponse.of(
                                        refusal.status().orElseThrow(),
                                        "application/json",
                                        "{\"refused\":true}".getBytes(UTF_8));
                            }
                        });
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GARBAGE\r\n\r\n",
                "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
                "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /\u0001 HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nNo colon\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nSpace : a\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n folded\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nA: b\u0000c\r\n\r\n",
                "GET / HTTP/1.1\nHost: x\n\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 4\r\n\r\nabcd",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            })
    void aMalformedRequestIsRefusedInOurWordsAndTheConnectionClosed(String request)
            throws IOException {
        try (var peer = new RawPeer(server.port())) {
            var all = peer.send(request).rest();
            assertTrue(all.isEmpty() || all.matches("(?s)HTTP/1.1 (4|50[15]).*"), all);
            assertTrue(all.isEmpty() || all.endsWith("{\"refused\":true}"), all);
            assertFalse(all.contains("<html"), all);
        }
        assertGoesOn();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zz\r\nabc\r\n0\r\n\r\n",
                "-1\r\n\r\n",
                "3\r\nabcd\r\n0\r\n\r\n",
                "3\nabc\n0\n\n",
                "ffffffffffffffffff\r\nabc",
                "0x3\r\nabc\r\n0\r\n\r\n"
            })
    void aBadlyFramedBodyNeverBecomesASecondRequest(String body) throws IOException {
        try (var peer = new RawPeer(server.port())) {
            var all =
                    peer.send(
                                    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                            + body
                                            + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
                            .endOutput()
                            .rest();
            assertFalse(all.contains("fine"), all);
        }
        assertGoesOn();
    }

    @Test
    void hugeHeadersAndPathsAreRefused() throws IOException {
        var big = "x".repeat(100_000);
        try (var peer = new RawPeer(server.port())) {
            var all = peer.send("GET / HTTP/1.1\r\nHost: x\r\nBig: " + big).rest();
            assertTrue(all.isEmpty() || all.startsWith("HTTP/1.1 431"), all);
        }
        try (var peer = new RawPeer(server.port())) {
            var all = peer.send("GET /" + big).rest();
            assertTrue(all.isEmpty() || all.startsWith("HTTP/1.1 414"), all);
        }
        try (var peer = new RawPeer(server.port())) {
            var all = peer.send("GET / HTTP/1.1\r\nHost: x\r\n" + "A: b\r\n".repeat(20_000)).rest();
            assertTrue(all.isEmpty() || all.startsWith("HTTP/1.1 431"), all);
        }
        assertGoesOn();
    }

    @Test
    void randomBytesDoNotStopTheServer() throws IOException {
        var seed = System.nanoTime();
        var random = new Random(seed);
        for (int round = 0; round < 100; round++) {
            var text = new StringBuilder(random.nextBoolean() ? "POST / HTTP/1.1\r\n" : "");
            for (int i = random.nextInt(500); i > 0; i--) {
                text.append((char) random.nextInt(256));
            }
            try (var peer = new RawPeer(server.port())) {
                var all = peer.send(text + "\r\n\r\n").endOutput().rest();
                assertFalse(all.contains("<html"), "seed " + seed);
            }
        }
        assertGoesOn();
    }

    @Test
    void aPeerThatVanishesInTheMiddleDoesNoHarm() throws IOException {
        for (int round = 0; round < 50; round++) {
            try (var peer = new RawPeer(server.port())) {
                peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
            }
        }
        assertGoesOn();
    }

    private void assertGoesOn() throws IOException {
        try (var peer = new RawPeer(server.port())) {
            assertEquals("fine", peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer().body());
        }
    }
}
