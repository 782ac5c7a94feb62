package coppice.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HttpLimitsTest {
    private static final HttpLimits QUICK =
            new HttpLimits(
                    2,
                    100,
                    new Size(8192),
                    Duration.ofMillis(400),
                    Duration.ofMillis(600),
                    Duration.ofSeconds(5),
                    WebSocketLimits.DEFAULT);

    @Test
    void aHeadThatDoesNotArriveInTimeEndsTheConnection() throws IOException {
        // The idle time is far off, so only the limit on the whole head can end it.
        var limits =
                new HttpLimits(
                        2,
                        100,
                        new Size(8192),
                        Duration.ofMillis(200),
                        Duration.ofMinutes(5),
                        Duration.ofSeconds(5),
                        WebSocketLimits.DEFAULT);
        var address = new InetSocketAddress("127.0.0.1", 0);
        try (var server = HttpServer.start(address, limits, new Echo());
                var first = new RawPeer(server.port());
                var second = new RawPeer(server.port())) {
            first.send("GET /a HTTP/1.1\r\nHost: x\r\n");
            second.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").answer();
            second.send("G");
            assertEquals("", first.rest());
            assertEquals("", second.rest());
            assertGoesOn(server);
        }
    }

    @Test
    void aHandlerMayTakeLongerThanTheIdleAndHeadTimes() throws Exception {
        var echo = new Echo();
        try (var server = start(echo);
                var peer = new RawPeer(server.port())) {
            peer.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            echo.arrived.await();
            assertFalse(echo.release.await(1500, TimeUnit.MILLISECONDS));
            echo.release.countDown();
            assertEquals("GET /wait - ", peer.answer().body());
        }
    }

    @Test
    void anIdleConnectionIsClosed() throws IOException {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            assertEquals("", peer.rest());
        }
    }

    @Test
    void requestsBeyondTheLimitAreRefusedAtOnce() throws Exception {
        var echo = new Echo();
        try (var server = start(echo);
                var first = new RawPeer(server.port());
                var second = new RawPeer(server.port())) {
            first.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            second.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            assertTrue(
                    echo.waiting.tryAcquire(2, 10, TimeUnit.SECONDS)); // both are in their handlers
            assertEquals(503, exchange(server, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n").status());
            echo.release.countDown();
            assertEquals(200, first.answer().status());
            assertEquals(200, second.answer().status());
            assertGoesOn(server);
        }
    }

    @Test
    void stoppingLetsRequestsInProgressEndAndRefusesNewOnes() throws Exception {
        var echo = new Echo();
        var server = start(echo);
        try (var busy = new RawPeer(server.port());
                var idle = new RawPeer(server.port())) {
            idle.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").answer();
            busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            echo.arrived.await();
            var port = server.port();
            var stop = Thread.ofVirtual().start(server::close);
            var refused = 200;
            while (refused == 200) {
                refused = idle.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").answer().status();
            }
            assertEquals(503, refused);
            var deadline = Deadline.in(Duration.ofSeconds(10));
            while (accepts(port)) { // those that are there are refused a moment earlier
                assertTrue(!deadline.isPast(), "it goes on accepting connections");
            }
            echo.release.countDown();
            assertEquals("GET /wait - ", busy.answer().body());
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    private static boolean accepts(int port) {
        try {
            new RawPeer(port).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void stoppingCutsWhatDoesNotEndInTime() throws Exception {
        var echo = new Echo();
        var server = start(echo);
        try (var busy = new RawPeer(server.port())) {
            busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            echo.arrived.await();
            server.stop(Deadline.in(Duration.ofMillis(100)));
            assertEquals("", busy.rest());
        }
    }

    @Test
    void aBodyThatNeverEndsIsGivenUpAtTheDeadline() throws IOException {
        try (var server = start(new Echo());
                var peer = new RawPeer(server.port())) {
            peer.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
            assertEquals("BAD_REQUEST", peer.answer().body());
            assertEquals("", peer.rest());
        }
    }

    @Test
    void aBodyBeyondTheLimitIsRefusedWhetherAnnouncedOrFound() throws IOException {
        try (var server = start(new Echo())) {
            var big = "x".repeat(1_000_001);
            var announced =
                    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                            .formatted(big.length(), big);
            var found =
                    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
                            .formatted(big.length(), big);
            assertEquals(413, exchange(server, announced).status());
            assertEquals(413, exchange(server, found).status());
        }
    }

    private static HttpServer start(HttpHandler handler) {
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), QUICK, handler);
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
