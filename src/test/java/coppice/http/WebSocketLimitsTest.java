package coppice.http;

import static coppice.http.RawSocket.BINARY;
import static coppice.http.RawSocket.CLOSE;
import static coppice.http.RawSocket.FIN;
import static coppice.http.RawSocket.PING;
import static coppice.http.RawSocket.PONG;
import static coppice.http.RawSocket.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WebSocketLimitsTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void aPeerThatAnswersPingsStaysAndOneThatIsSilentIsClosed() throws Exception {
        var sockets = Sockets.echo();
        try (var server = start(sockets, beating(100, 1000));
                var socket = RawSocket.open(server.port(), "/")) {
            var end = Deadline.in(Duration.ofMillis(2500));
            while (!end.isPast()) {
                assertEquals(PING, socket.receive().kind());
                socket.send(FIN | PONG, new byte[0]);
            }
            var since = System.nanoTime();
            var frame = socket.receive();
            for (int beat = 0; frame.kind() == PING && beat < 50; beat++) {
                frame = socket.receive();
            }
            assertEquals(CLOSE, frame.kind());
            assertEquals(1008, frame.code());
            var took = Duration.ofNanos(System.nanoTime() - since);
            assertTrue(took.toMillis() > 800, "closed too early, after " + took);
            assertEquals("opened", sockets.next());
            assertTrue(sockets.next().startsWith("closed 1008"));
        }
    }

    @Test
    void aBusyHandlerIsNotTakenForASilentPeer() throws Exception {
        var release = new CountDownLatch(1);
        var sockets =
                new Sockets(
                        (socket, text) -> {
                            await(release);
                            socket.send(text);
                        });
        try (var server = start(sockets, beating(50, 300));
                var socket = RawSocket.open(server.port(), "/")) {
            socket.send(FIN | TEXT, "work".getBytes(UTF_8));
            for (int beat = 0; beat < 20; beat++) {
                assertEquals(PING, socket.receive().kind());
            }
            release.countDown();
            assertEquals("work", socket.message().text());
        }
    }

    @Test
    void aPeerThatTakesNothingIsEndedByThePing() throws Exception {
        var sockets = new Sockets((socket, _) -> fill(socket, new AtomicLong()));
        try (var server = start(sockets, beating(100, 400));
                var socket = RawSocket.open(server.port(), "/")) {
            socket.send(FIN | TEXT, new byte[0]);
            assertEquals("opened", sockets.next());
            assertTrue(sockets.next().startsWith("closed 100"));
        }
    }

    @Test
    void aPeerThatDoesNotReadHoldsTheSenderBackAndIsThenCut() throws Exception {
        var sent = new AtomicLong();
        var most = new AtomicLong();
        var sockets =
                new Sockets(
                        (socket, _) -> {
                            try {
                                fill(socket, sent);
                            } finally {
                                most.set(socket.queuedBytes());
                            }
                        });
        var limits =
                new WebSocketLimits(
                        1, Size.ofMib(1), Size.ofMib(2), Duration.ofSeconds(1), LONG, LONG, LONG);
        try (var server = start(sockets, limits);
                var socket = RawSocket.open(server.port(), "/")) {
            socket.send(FIN | TEXT, new byte[0]);
            assertEquals("opened", sockets.next());
            assertEquals("closed 1006", sockets.next().substring(0, 11));
            assertTrue(sent.get() < 24 << 20, sent + " bytes were taken");
            assertTrue(most.get() <= 2 << 20, most + " bytes were queued");
        }
    }

    @Test
    void aMessageThatIsNotHandledHoldsThePeerBack() throws Exception {
        var release = new CountDownLatch(1);
        var sockets = new Sockets((_, _) -> await(release));
        try (var server = start(sockets, beating(60_000, 120_000));
                var socket = RawSocket.open(server.port(), "/")) {
            socket.send(FIN | TEXT, new byte[0]);
            var sent = new AtomicLong();
            var writer =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        while (sent.addAndGet(100_000) < 64 << 20
                                                && !Thread.currentThread().isInterrupted()) {
                                            send(socket, new byte[100_000]);
                                        }
                                    });
            assertFalse(writer.join(Duration.ofSeconds(1)), "all was taken from the peer");
            release.countDown();
            assertEquals(BINARY, socket.message().kind());
        }
    }

    @Test
    void moreSocketsThanAllowedAreRefusedAndAClosedOneMakesRoom() throws Exception {
        var sockets = Sockets.echo();
        try (var server = start(sockets, few(2))) {
            var first = RawSocket.open(server.port(), "/");
            try (var second = RawSocket.open(server.port(), "/");
                    var third = new RawPeer(server.port())) {
                third.send("GET / HTTP/1.1\r\n" + RawSocket.ASK + "\r\n");
                var answer = third.answer();
                assertEquals(503, answer.status());
                assertEquals("refused UNAVAILABLE", answer.body());
                assertEquals("opened", sockets.next());
                assertEquals("opened", sockets.next());
                first.close();
                assertTrue(sockets.next().startsWith("closed 1006"));
                assertEquals("x", opened(server.port()).message().text());
                assertEquals("y", second.send(FIN | TEXT, new byte[] {'y'}).message().text());
            }
        }
    }

    @Test
    void aFailureOfTheHandlerClosesWith1011AndAFaultHidesItsWords() throws Exception {
        var sockets =
                new Sockets(
                        (_, text) -> {
                            throw text.equals("failure")
                                    ? new Failure(Code.CONFLICT, "the VM is stopped")
                                    : new IllegalStateException("secret inside");
                        });
        try (var server = start(sockets, few(10))) {
            for (var how : new String[] {"failure", "fault"}) {
                try (var socket = RawSocket.open(server.port(), "/")) {
                    var close = socket.send(FIN | TEXT, how.getBytes(UTF_8)).message();
                    assertEquals(1011, close.code());
                    assertEquals(how.equals("failure"), close.text().endsWith("the VM is stopped"));
                    assertFalse(close.text().contains("secret"), close.text());
                }
            }
        }
    }

    @Test
    void aPeerThatDoesNotAnswerACloseIsCut() throws Exception {
        var sockets = new Sockets((socket, _) -> socket.close(1000, "bye"));
        try (var server = start(sockets, closing(300));
                var socket = RawSocket.open(server.port(), "/")) {
            var close = socket.send(FIN | TEXT, new byte[0]).message();
            assertEquals(1000, close.code());
            assertEquals("", socket.peer().rest());
            assertEquals("opened", sockets.next());
            assertTrue(sockets.next().startsWith("closed 1006"));
        }
    }

    @Test
    void whatWasSentBeforeAnOrderlyCloseArrivesAndNothingAfter() throws Exception {
        var later = new Exchanger<String>();
        var sockets =
                new Sockets(
                        (socket, _) -> {
                            for (int i = 0; i < 100; i++) {
                                socket.send(new byte[10_000]);
                            }
                            socket.close(1000, "ä".repeat(200));
                            try {
                                socket.send("late");
                            } catch (Failure e) {
                                exchange(later, e.code().name());
                            }
                        });
        try (var server = start(sockets, few(10));
                var socket = RawSocket.open(server.port(), "/")) {
            socket.send(FIN | TEXT, new byte[0]);
            assertEquals("UNAVAILABLE", exchange(later, ""));
            for (int i = 0; i < 100; i++) {
                assertEquals(10_000, socket.message().bytes().length);
            }
            assertEquals(1000, socket.message().code());
        }
    }

    private static RawSocket opened(int port) throws IOException {
        var end = Deadline.in(Duration.ofSeconds(10));
        while (true) { // its place is free a moment after it was told that it closed
            try {
                return RawSocket.open(port, "/").send(FIN | TEXT, new byte[] {'x'});
            } catch (IOException e) {
                if (end.isPast()) {
                    throw e;
                }
            }
        }
    }

    private static void fill(WebSocket socket, AtomicLong sent) {
        for (int i = 0; i < 1 << 20; i++) {
            socket.send(new byte[100_000]);
            sent.addAndGet(100_000);
        }
    }

    private static void send(RawSocket socket, byte[] bytes) {
        try {
            socket.send(FIN | BINARY, bytes);
        } catch (IOException _) {
            // The test is over, and its socket closed.
            Thread.currentThread().interrupt();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String exchange(Exchanger<String> with, String mine) {
        try {
            return with.exchange(mine, 10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static WebSocketLimits beating(long pingMillis, long pongMillis) {
        var ping = Duration.ofMillis(pingMillis);
        var pong = Duration.ofMillis(pongMillis);
        return new WebSocketLimits(1, Size.ofMib(1), Size.ofMib(8), LONG, ping, pong, LONG);
    }

    private static WebSocketLimits closing(long millis) {
        var close = Duration.ofMillis(millis);
        return new WebSocketLimits(1, Size.ofMib(1), Size.ofMib(8), LONG, LONG, LONG, close);
    }

    private static WebSocketLimits few(int maxOpen) {
        return new WebSocketLimits(maxOpen, Size.ofMib(1), Size.ofMib(8), LONG, LONG, LONG, LONG);
    }

    private static HttpServer start(HttpHandler handler, WebSocketLimits sockets) {
        var d = HttpLimits.DEFAULT;
        var limits =
                new HttpLimits(
                        d.maxRequests(),
                        d.maxConnections(),
                        d.maxHead(),
                        d.headTime(),
                        d.idleTime(),
                        Duration.ofSeconds(2),
                        sockets);
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), limits, handler);
    }
}
