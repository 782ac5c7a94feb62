package coppice.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class HttpServerTest {
    @Test
    void pathsArriveAsTheyWereSent() throws IOException {
        try (var server = start(new Echo())) {
            for (var path :
                    new String[] {
                        "/a%2Fb", "/a%25b", "//a//b/", "/a/../b", "/a/./%2e%2e/b", "/a;x=y/b",
                        "/%c0%af", "/%ff", "/a%5Cb", "/a\\b", "/a|b", "/a%20+b"
                    }) {
                var answer = exchange(server, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
                assertEquals("GET " + path + " - ", answer.body(), path);
            }
            var answer = exchange(server, "GET http://x/abs%2F?a=%2F HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("GET /abs%2F a=%2F ", answer.body());
        }
    }

    @Test
    void brokenPercentEncodingsAreRefusedInOurWords() throws IOException {
        try (var server = start(new Echo())) {
            for (var path : new String[] {"/%00", "/%ZZ", "/%", "/a%4", "/%u00", "/a?%"}) {
                var answer = exchange(server, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
                var isRefused =
                        answer.body().equals("refused BAD_REQUEST") && answer.status() == 400;
                assertTrue(
                        isRefused || answer.body().startsWith("GET " + path.charAt(0)),
                        path + answer);
            }
        }
    }

    @Test
    void handlersRunOnVirtualThreadsAndNothingTellsTheServersName() throws IOException {
        var echo = new Echo();
        try (var server = start(echo)) {
            var answer = exchange(server, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
            assertTrue(echo.wasVirtual);
            assertFalse(answer.head().toLowerCase().contains("server:"), answer.head());
            assertFalse(answer.head().toLowerCase().contains("jetty"), answer.head());
        }
    }

    @Test
    void headIsAnsweredLikeGetWithoutTheBody() throws IOException {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            peer.send("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            var all = peer.rest();
            assertTrue(all.startsWith("HTTP/1.1 200"), all);
            assertTrue(all.contains("Content-Length: 10\r\n"), all);
            assertTrue(all.endsWith("\r\n\r\n"), all);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrderAndCloseIsHonoured() throws IOException {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            peer.send(
                    "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
                            + "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                            + "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n"
                            + "GET /4 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                            + "GET /5 HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("GET /1 - ", peer.answer().body());
            assertEquals("POST /2 - abc", peer.answer().body());
            assertEquals("POST /3 - xy", peer.answer().body());
            assertEquals("GET /4 - ", peer.answer().body());
            assertEquals("", peer.rest());
        }
    }

    @Test
    void anUnreadBodyDoesNotSpoilTheNextRequest() throws IOException {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            peer.send("POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n");
            peer.send("GET /evil HTTP/1.1\r\n\r\n".repeat(22800).substring(0, 499_999) + "x");
            assertEquals("unread", peer.answer().body());
            peer.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("GET /next - ", peer.answer().body());
        }
    }

    @Test
    void aBodyThatEndsEarlyEndsTheConnection() throws IOException {
        try (var server = start(new Echo())) {
            try (var peer = new RawPeer(server.port())) {
                peer.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
                        .endOutput();
                var rest = peer.rest();
                assertTrue(rest.isEmpty() || rest.startsWith("HTTP/1.1 400"), rest);
            }
            assertGoesOn(server);
        }
    }

    @Test
    void aHandlerThatThrowsIsAnsweredWithoutItsWords() throws IOException {
        try (var server = start(new Echo())) {
            var answer = exchange(server, "GET /throw HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals(500, answer.status());
            assertEquals("refused INTERNAL_ERROR", answer.body());
        }
    }

    @Test
    void anAddressInUseIsAFailureThatNamesIt() {
        try (var server = start(new Echo())) {
            var failure =
                    assertThrows(
                            Failure.class,
                            () ->
                                    HttpServer.start(
                                            new InetSocketAddress("127.0.0.1", server.port()),
                                            HttpLimits.DEFAULT,
                                            new Echo()));
            assertEquals(Code.UNAVAILABLE, failure.code());
            assertTrue(failure.getMessage().contains("127.0.0.1:" + server.port()));
        }
    }

    private static HttpServer start(HttpHandler handler) {
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, handler);
    }

    private static RawPeer.Answer exchange(HttpServer server, String request) throws IOException {
        try (var peer = new RawPeer(server.port())) {
            return peer.send(request).answer();
        }
    }

    private static void assertGoesOn(HttpServer server) throws IOException {
        assertEquals(200, exchange(server, "GET /on HTTP/1.1\r\nHost: x\r\n\r\n").status());
    }
}
