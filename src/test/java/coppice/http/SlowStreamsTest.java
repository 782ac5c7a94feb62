package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import coppice.base.Size;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// Peers and writers that keep the other side waiting.
class SlowStreamsTest {
    /// More than all buffers between two sockets on one machine hold.
    private static final long BUFFERS = 24 << 20;

    private static final long HUGE = 16L << 30;
    private static final String GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    private final AtomicLong taken = new AtomicLong();

    @Test
    void aPeerThatDoesNotReadHoldsTheWriterBackAndThenEndsIt() throws Exception {
        var streaming = new Streaming(_ -> endless());
        try (var server = start(streaming, Duration.ofSeconds(1));
                var peer = new RawPeer(server.port())) {
            peer.send(GET);
            assertEquals("UNAVAILABLE", streaming.told.poll(20, TimeUnit.SECONDS));
            assertEquals("closed", streaming.told.poll(10, TimeUnit.SECONDS));
            assertTrue(taken.get() < BUFFERS, taken + " bytes were taken from the writer");
        }
    }

    @Test
    void aPeerThatGoesAwayEndsTheWriter() throws Exception {
        var streaming = new Streaming(_ -> endless());
        try (var server = start(streaming, Duration.ofMinutes(5))) {
            try (var peer = new RawPeer(server.port())) {
                peer.send(GET).read(100_000);
            }
            assertEquals("UNAVAILABLE", streaming.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", streaming.told.poll(10, TimeUnit.SECONDS));
            try (var peer = new RawPeer(server.port())) {
                peer.send(GET).read(100_000);
                peer.reset();
            }
            assertEquals("UNAVAILABLE", streaming.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", streaming.told.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void whatAHandlerDoesNotReadIsNotTakenFromTheSender() throws Exception {
        var release = new CountDownLatch(1);
        Function<HttpRequest, HttpResponse> reader =
                request -> {
                    var stream = request.body().stream(new Size(HUGE));
                    stream.read(new byte[1], 0, 1, Deadline.in(Duration.ofSeconds(10)));
                    await(release);
                    return HttpResponse.empty(204);
                };
        try (var server = start(new Streaming(reader), Duration.ofMinutes(5));
                var peer = SocketChannel.open(new InetSocketAddress("127.0.0.1", server.port()));
                var writable = Selector.open()) {
            var head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n".formatted(HUGE);
            peer.write(ByteBuffer.wrap(head.getBytes(UTF_8)));
            peer.configureBlocking(false);
            peer.register(writable, SelectionKey.OP_WRITE);
            long sent = 0;
            while (writable.select(500) > 0 && sent < BUFFERS) {
                sent += peer.write(ByteBuffer.allocate(65536));
                writable.selectedKeys().clear();
            }
            assertTrue(sent < BUFFERS, sent + " bytes were taken from the sender");
            release.countDown();
        }
    }

    @Test
    void eachFlushGoesOutAtOnce() throws Exception {
        var release = new CountDownLatch(1);
        var streaming =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.empty(),
                                        sink -> {
                                            sink.flush();
                                            sink.write("one\n".getBytes(UTF_8));
                                            sink.flush();
                                            await(release);
                                            sink.write("two\n".getBytes(UTF_8));
                                        }));
        try (var server = start(streaming, Duration.ofMinutes(5));
                var peer = new RawPeer(server.port())) {
            assertEquals(200, peer.send(GET).answer().status());
            assertEquals("4\r\none\n", new String(peer.read(7), UTF_8));
            release.countDown();
            assertEquals("\r\n", new String(peer.read(2), UTF_8));
            assertEquals("two\n", new String(peer.chunks(), UTF_8));
        }
    }

    @Test
    void aWriterThatHearsOfTheEndOfTheServerEndsInGoodOrder() throws Exception {
        var streaming =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.empty(),
                                        sink -> {
                                            var draining = new CountDownLatch(1);
                                            sink.whenDraining(draining::countDown);
                                            sink.flush();
                                            await(draining);
                                            sink.write("bye".getBytes(UTF_8));
                                        }));
        var server = start(streaming, Duration.ofMinutes(5));
        try (var peer = new RawPeer(server.port())) {
            assertEquals(200, peer.send(GET).answer().status());
            var stop = Thread.ofVirtual().start(server::close);
            assertEquals("bye", new String(peer.chunks(), UTF_8));
            assertTrue(stop.join(Duration.ofSeconds(10)));
        }
    }

    @Test
    void aWriterThatDoesNotHearOfTheEndOfTheServerIsCut() throws Exception {
        var streaming =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.empty(),
                                        sink -> {
                                            sink.flush();
                                            await(new CountDownLatch(1));
                                        }));
        var server = start(streaming, Duration.ofMinutes(5));
        try (var peer = new RawPeer(server.port())) {
            assertEquals(200, peer.send(GET).answer().status());
            server.stop(Deadline.in(Duration.ofMillis(100)));
            assertEquals("", peer.rest());
            assertEquals("IllegalStateException", streaming.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", streaming.told.poll(10, TimeUnit.SECONDS));
        }
    }

    private HttpResponse endless() {
        return Streaming.stream(
                OptionalLong.of(HUGE),
                sink -> {
                    var piece = new byte[100_000];
                    for (long left = HUGE; left > 0; left -= piece.length) {
                        sink.write(piece);
                        taken.addAndGet(piece.length);
                    }
                });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static HttpServer start(HttpHandler handler, Duration idleTime) {
        var d = HttpLimits.DEFAULT;
        var limits =
                new HttpLimits(
                        d.maxRequests(),
                        d.maxConnections(),
                        d.maxHead(),
                        d.headTime(),
                        idleTime,
                        d.drainTime(),
                        d.sockets());
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), limits, handler);
    }
}
