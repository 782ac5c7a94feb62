package coppice.http;

import static coppice.http.Http2Peer.CONTINUATION;
import static coppice.http.Http2Peer.DATA;
import static coppice.http.Http2Peer.END_HEADERS;
import static coppice.http.Http2Peer.END_STREAM;
import static coppice.http.Http2Peer.GOAWAY;
import static coppice.http.Http2Peer.HEADERS;
import static coppice.http.Http2Peer.INITIAL_WINDOW_SIZE;
import static coppice.http.Http2Peer.NOTHING;
import static coppice.http.Http2Peer.NO_FLAGS;
import static coppice.http.Http2Peer.RST_STREAM;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class Http2LimitsTest {
    private static final Duration FAR = Duration.ofMinutes(5);
    private static final Duration SOON = Duration.ofMillis(400);

    @Test
    void aHeadThatDoesNotArriveInTimeEndsTheConnection() throws IOException {
        try (var server = start(new Echo(), SOON, FAR);
                var half = Http2Peer.connected(server.port());
                var dripping = Http2Peer.connected(server.port());
                var busy = Http2Peer.connected(server.port())) {
            var frame = Http2Peer.frame(HEADERS, END_HEADERS, 1, Http2Peer.head("GET", "/a"));
            half.send(Arrays.copyOf(frame, 12));
            dripping.send(HEADERS, END_STREAM, 1, Http2Peer.head("GET", "/a"));
            // Another stream in progress is no reason to wait.
            busy.post(1, "/a").send(new byte[4]);
            assertFalse(half.untilClosed().isPresent());
            drip(dripping);
            assertFalse(dripping.untilClosed().isPresent());
            busy.untilClosed();
            assertGoesOn(server);
        }
    }

    @Test
    void aPrefaceThatDoesNotArriveInTimeEndsTheConnection() throws IOException {
        try (var server = start(new Echo(), SOON, FAR);
                var before = Http2Peer.silent(server.port());
                var after = Http2Peer.silent(server.port());
                var upgraded = new RawPeer(server.port())) {
            before.send("PRI * HTTP/2.0\r\n".getBytes(ISO_8859_1)).untilClosed();
            after.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1)).untilClosed();
            upgraded.send(
                    "GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                            + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
            assertTrue(upgraded.rest().startsWith("HTTP/1.1 101"));
            assertGoesOn(server);
        }
    }

    @Test
    void aBodyMayTakeLongerThanTheTimeForAHead() throws Exception {
        var slow =
                new Streaming(
                        request ->
                                HttpResponse.of(
                                        200,
                                        "text/plain",
                                        request.body().read(new Size(10), Deadline.in(FAR))));
        try (var server = start(slow, Duration.ofMillis(100), FAR);
                var peer = Http2Peer.connected(server.port())) {
            peer.post(1, "/")
                    .send(Arrays.copyOf(Http2Peer.frame(DATA, END_STREAM, 1, new byte[2]), 10));
            try (var other = Http2Peer.connected(server.port())) {
                other.send(new byte[1]).untilClosed(); // so that much time has passed by now
            }
            peer.send(new byte[1]);
            assertTrue(peer.isAnswered(1));
        }
    }

    @Test
    void anIdleConnectionIsClosed() throws IOException {
        try (var server = start(new Echo(), FAR, SOON);
                var fresh = Http2Peer.connected(server.port());
                var used = Http2Peer.connected(server.port())) {
            assertTrue(used.get(1, "/a").isAnswered(1));
            assertEquals(0, used.untilClosed().orElseThrow().error());
            fresh.untilClosed();
        }
    }

    @Test
    void aHandlerMayTakeLongerThanTheIdleAndHeadTimes() throws Exception {
        var echo = new Echo();
        try (var server = start(echo, SOON, SOON);
                var peer = Http2Peer.connected(server.port())) {
            peer.get(1, "/wait");
            echo.arrived.await();
            assertFalse(echo.release.await(1500, TimeUnit.MILLISECONDS));
            echo.release.countDown();
            assertTrue(peer.isAnswered(1));
        }
    }

    @Test
    void aBodyThatNeverEndsIsGivenUpAtTheDeadlineAndTheConnectionGoesOn() throws IOException {
        try (var server = start(new Echo(), FAR, FAR);
                var peer = Http2Peer.connected(server.port())) {
            peer.post(1, "/a").send(DATA, NO_FLAGS, 1, new byte[3]);
            assertEquals("BAD_REQUEST", new String(peer.next(DATA).payload(), UTF_8));
            assertEquals(1, peer.next(RST_STREAM).stream());
            assertTrue(peer.get(3, "/a").isAnswered(3));
        }
    }

    @Test
    void aBodyBeyondTheLimitIsRefused() throws IOException {
        try (var server = start(new Echo(), FAR, FAR);
                var peer = Http2Peer.connected(server.port())) {
            peer.post(1, "/a").send(DATA, END_STREAM, 1, new byte[1001]);
            assertEquals("PAYLOAD_TOO_LARGE", new String(peer.next(DATA).payload(), UTF_8));
        }
    }

    @Test
    void requestsBeyondTheLimitAreRefusedAtOnceAndResetOnesCountUntilTheyEnd() throws Exception {
        var echo = new Echo();
        try (var server = start(echo, FAR, FAR);
                var peer = Http2Peer.connected(server.port())) {
            peer.get(1, "/wait").get(3, "/wait");
            assertTrue(echo.waiting.tryAcquire(2, 10, TimeUnit.SECONDS));
            peer.send(RST_STREAM, NO_FLAGS, 1, Http2Peer.number(8));
            peer.get(5, "/a");
            assertEquals("refused UNAVAILABLE", new String(peer.next(DATA).payload(), UTF_8));
            echo.release.countDown();
            assertTrue(peer.isAnswered(3));
            assertGoesOn(server);
        }
    }

    @Test
    void anAnswerThatIsNotTakenIsGivenUpAfterTheIdleTime() throws Exception {
        var big = new byte[1 << 20];
        var answers =
                new Streaming(
                        request ->
                                request.path().equals("/streamed")
                                        ? Streaming.stream(
                                                OptionalLong.of(big.length),
                                                sink -> sink.write(big))
                                        : HttpResponse.of(200, "image/png", big));
        try (var server = start(answers, FAR, SOON);
                var peer = Http2Peer.connected(server.port(), INITIAL_WINDOW_SIZE, 0)) {
            peer.get(1, "/streamed");
            assertEquals(1, peer.next(RST_STREAM).stream());
            assertEquals("UNAVAILABLE", answers.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", answers.told.poll(10, TimeUnit.SECONDS));
            peer.get(3, "/whole").get(5, "/whole");
            assertEquals(8, peer.next(RST_STREAM).stream() + peer.next(RST_STREAM).stream());
            // All of them have made room.
            peer.enlarge(0, 2 << 20).get(7, "/whole").enlarge(7, 1 << 20);
            assertTrue(peer.isAnswered(7));
        }
    }

    @Test
    void aPeerThatReadsNothingIsGivenUpAfterTheIdleTime() throws Exception {
        var big = new byte[64 << 20];
        var answers =
                new Streaming(
                        request ->
                                request.path().equals("/streamed")
                                        ? Streaming.stream(
                                                OptionalLong.of(big.length),
                                                sink -> sink.write(big))
                                        : HttpResponse.of(200, "image/png", big));
        try (var server = start(answers, FAR, SOON);
                var peer =
                        Http2Peer.connected(
                                server.port(), INITIAL_WINDOW_SIZE, Integer.MAX_VALUE)) {
            peer.enlarge(0, Integer.MAX_VALUE - 65535).get(1, "/streamed").get(3, "/whole");
            assertEquals("UNAVAILABLE", answers.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", answers.told.poll(10, TimeUnit.SECONDS));
            try (var other = Http2Peer.connected(server.port())) {
                var deadline = Deadline.in(Duration.ofSeconds(10));
                int stream = 1;
                // Both places are free again.
                while (!other.get(stream, "/x").next(HEADERS).isOk()) {
                    assertFalse(deadline.isPast());
                    stream += 2;
                }
            }
            peer.untilClosed();
        }
    }

    @Test
    void aClosedWindowHoldsUpOnlyItsOwnStream() throws Exception {
        var answers = new Streaming(_ -> HttpResponse.of(200, "image/png", new byte[1000]));
        try (var server = start(answers, FAR, FAR);
                var peer = Http2Peer.connected(server.port(), INITIAL_WINDOW_SIZE, 0)) {
            peer.get(1, "/").get(3, "/").enlarge(3, 1000);
            assertEquals(3, peer.next(DATA).stream());
            peer.enlarge(1, 1000);
            assertEquals(1, peer.next(DATA).stream());
        }
    }

    @Test
    void stoppingLetsRequestsInProgressEndAndRefusesNewOnes() throws Exception {
        var echo = new Echo();
        var server = start(echo, FAR, FAR);
        try (var busy = Http2Peer.connected(server.port());
                var idle = Http2Peer.connected(server.port())) {
            assertTrue(idle.get(1, "/a").isAnswered(1));
            busy.get(1, "/wait");
            echo.arrived.await();
            var stop = Thread.ofVirtual().start(server::close);
            assertEquals(0, idle.next(GOAWAY).error());
            assertEquals(0, busy.next(GOAWAY).error());
            busy.get(3, "/a");
            assertEquals("refused UNAVAILABLE", new String(busy.next(DATA).payload(), UTF_8));
            // Longer than it takes to cut off what is left.
            assertFalse(echo.release.await(1500, TimeUnit.MILLISECONDS));
            echo.release.countDown();
            assertTrue(busy.isAnswered(1));
            busy.untilClosed();
            idle.untilClosed();
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    @Test
    void stoppingLetsABodyArriveAndAnAnswerBeTaken() throws Exception {
        var arrived = new CountDownLatch(1);
        var copy =
                new Streaming(
                        request -> {
                            arrived.countDown();
                            var bytes = request.body().read(new Size(10), Deadline.in(FAR));
                            return Streaming.stream(OptionalLong.of(3), s -> s.write(bytes));
                        });
        var server = start(copy, FAR, FAR);
        try (var peer = Http2Peer.connected(server.port(), INITIAL_WINDOW_SIZE, 0)) {
            peer.post(1, "/").send(DATA, NO_FLAGS, 1, new byte[2]);
            arrived.await();
            var stop = Thread.ofVirtual().start(server::close);
            peer.next(GOAWAY);
            assertFalse(stop.join(Duration.ofMillis(1500)));
            peer.send(DATA, END_STREAM, 1, new byte[1]);
            peer.next(HEADERS);
            assertFalse(stop.join(Duration.ofMillis(1500)));
            peer.enlarge(1, 3);
            assertEquals(3, peer.next(DATA).payload().length);
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    @Test
    void stoppingLetsAnAnswerAtHandBeTaken() throws Exception {
        var answers = new Streaming(_ -> HttpResponse.of(200, "image/png", new byte[1000]));
        var server = start(answers, FAR, FAR);
        try (var peer = Http2Peer.connected(server.port(), INITIAL_WINDOW_SIZE, 0)) {
            peer.get(1, "/").next(HEADERS);
            var stop = Thread.ofVirtual().start(server::close);
            assertFalse(stop.join(Duration.ofMillis(1500)));
            peer.enlarge(1, 1000);
            assertEquals(1000, peer.next(DATA).payload().length);
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    @Test
    void stoppingCutsWhatDoesNotEndInTime() throws Exception {
        var echo = new Echo();
        var server = start(echo, FAR, FAR);
        try (var busy = Http2Peer.connected(server.port())) {
            busy.get(1, "/wait");
            echo.arrived.await();
            server.stop(Deadline.in(Duration.ofMillis(100)));
            busy.untilClosed();
        }
    }

    /// Sends nothing that ends a head, until nobody takes it any more.
    private static void drip(Http2Peer peer) {
        try {
            while (true) {
                peer.send(CONTINUATION, NO_FLAGS, 1, NOTHING);
                if (new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (IOException | InterruptedException _) {
            // It is cut off.
        }
    }

    private static HttpServer start(HttpHandler handler, Duration headTime, Duration idleTime) {
        var limits =
                new HttpLimits(
                        2,
                        100,
                        new Size(8192),
                        headTime,
                        idleTime,
                        Duration.ofSeconds(20),
                        WebSocketLimits.DEFAULT);
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), limits, handler);
    }

    private static void assertGoesOn(HttpServer server) throws IOException {
        try (var peer = Http2Peer.connected(server.port())) {
            assertTrue(peer.get(1, "/on").isAnswered(1));
        }
    }
}
