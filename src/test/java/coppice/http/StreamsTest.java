package coppice.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StreamsTest {
    private static final Size LIMIT = Size.ofMib(16);
    private static final int[] SIZES = {
        0, 1, 2, 8191, 8192, 8193, 16383, 16384, 16385, 32768, 65535, 65536, 65537, 3 << 20
    };

    private final Random random = Seed.random(StreamsTest.class);

    @Test
    void bodiesOfAnySizeAndCutArriveWholeBothWays() throws IOException {
        try (var server = start(new Streaming(this::copy));
                var peer = new RawPeer(server.port())) {
            for (int round = 0; round < 80; round++) {
                var bytes = new byte[size(round)];
                random.nextBytes(bytes);
                var isKnown = random.nextBoolean();
                send(peer, isKnown ? "/known" : "/unknown", bytes);
                var answer = peer.answer();
                assertEquals(200, answer.status());
                var isChunked = answer.head().contains("Transfer-Encoding: chunked");
                assertFalse(isKnown && isChunked, answer.head());
                assertTrue(isChunked || answer.head().contains("Content-Length: " + bytes.length));
                if (isChunked) {
                    assertArrayEquals(bytes, peer.chunks());
                } else { // read by its length, as text
                    assertEquals(new String(bytes, UTF_8), answer.body());
                }
            }
        }
    }

    @Test
    void aBodyShorterThanItsLengthIsRefused() throws IOException {
        try (var server = start(new Streaming(this::copy));
                var peer = new RawPeer(server.port())) {
            peer.send("PUT /known HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc");
            var rest = peer.endOutput().rest();
            assertTrue(rest.isEmpty() || rest.endsWith("BAD_REQUEST"), rest);
        }
    }

    @Test
    void anAnnouncedBodyBeyondTheLimitIsRefusedBeforeItIsSent() throws IOException {
        try (var server = start(new Streaming(this::copy));
                var peer = new RawPeer(server.port())) {
            peer.send(
                    "PUT /known HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n");
            var answer = peer.answer();
            assertEquals(400, answer.status());
            assertEquals("PAYLOAD_TOO_LARGE", answer.body());
        }
    }

    @Test
    void aBodyThatExceedsTheLimitIsRefusedWhileItIsStillSent() throws Exception {
        var refused = new CountDownLatch(1);
        Function<HttpRequest, HttpResponse> reader =
                request -> {
                    try {
                        return HttpResponse.of(200, "text/plain", readAll(request, new Size(1000)));
                    } catch (Failure e) {
                        refused.countDown();
                        throw e;
                    }
                };
        try (var server = start(new Streaming(reader));
                var peer = new RawPeer(server.port())) {
            peer.send("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            peer.send("3e8\r\n" + "x".repeat(1000) + "\r\n1\r\n");
            assertFalse(refused.await(100, TimeUnit.MILLISECONDS));
            peer.send("x\r\n");
            assertTrue(refused.await(10, TimeUnit.SECONDS));
            assertEquals("PAYLOAD_TOO_LARGE", peer.send("0\r\n\r\n").answer().body());
        }
    }

    @Test
    void aBodyThatStopsIsGivenUpAtTheDeadlineOfTheRead() throws IOException {
        Function<HttpRequest, HttpResponse> reader =
                request -> {
                    var stream = request.body().stream(LIMIT);
                    var piece = new byte[100];
                    int n = stream.read(piece, 0, 100, Deadline.in(Duration.ofSeconds(10)));
                    assertEquals(3, n);
                    stream.read(piece, 0, 100, Deadline.in(Duration.ofMillis(100)));
                    throw new AssertionError("nothing was sent");
                };
        try (var server = start(new Streaming(reader));
                var peer = new RawPeer(server.port())) {
            peer.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
            assertEquals("BAD_REQUEST", peer.answer().body());
            assertEquals("", peer.rest());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"short", "long", "failure", "fault", "chunked"})
    void aBodyThatFailsInTheMiddleIsSeenToBeCut(String how) throws Exception {
        var length = how.equals("chunked") ? OptionalLong.empty() : OptionalLong.of(10);
        var streaming =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        length,
                                        sink -> {
                                            sink.write("abc".getBytes(ISO_8859_1));
                                            sink.flush();
                                            fail(sink, how);
                                        }));
        try (var server = start(streaming);
                var peer = new RawPeer(server.port())) {
            var all = peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").rest();
            assertTrue(all.startsWith("HTTP/1.1 200 "), all);
            assertTrue(all.contains("abc") && !all.endsWith("0\r\n\r\n"), all);
            assertFalse(all.contains("abcdefghij"), all);
            assertEquals("closed", untilClosed(streaming));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "failure, 599, UNAVAILABLE",
        "fault, 500, INTERNAL_ERROR",
        "short, 599, UNAVAILABLE",
        "long, 500, INTERNAL_ERROR"
    })
    void aBodyThatFailsBeforeItsFirstByteIsAnsweredByWhy(String how, int status, Code code)
            throws Exception {
        var streaming =
                new Streaming(_ -> Streaming.stream(OptionalLong.of(4), sink -> fail(sink, how)));
        try (var server = start(streaming);
                var peer = new RawPeer(server.port())) {
            var answer = peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer();
            assertEquals(status, answer.status());
            assertEquals("refused " + code, answer.body());
            assertEquals("closed", untilClosed(streaming));
        }
    }

    @Test
    void headTellsTheLengthAndOnlyClosesTheWriter() throws Exception {
        var streaming =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.of(1L << 40),
                                        _ -> {
                                            throw new AssertionError("there is no body to write");
                                        }));
        try (var server = start(streaming);
                var peer = new RawPeer(server.port())) {
            peer.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            var all = peer.rest();
            assertTrue(all.contains("Content-Length: 1099511627776\r\n"), all);
            assertTrue(all.endsWith("\r\n\r\n"), all);
            assertEquals("closed", streaming.told.poll(10, TimeUnit.SECONDS));
        }
    }

    private HttpResponse copy(HttpRequest request) {
        var bytes = readAll(request, LIMIT);
        var isKnown = request.path().equals("/known");
        return Streaming.stream(
                isKnown ? OptionalLong.of(bytes.length) : OptionalLong.empty(),
                sink -> {
                    for (int at = 0; at < bytes.length; ) {
                        int n = Math.min(bytes.length - at, 1 + random.nextInt(200_000));
                        if (random.nextBoolean()) {
                            n = Math.min(n, 1 + random.nextInt(2000));
                        }
                        sink.write(bytes, at, n);
                        at += n;
                        if (random.nextInt(4) == 0) {
                            sink.flush();
                        }
                    }
                });
    }

    private byte[] readAll(HttpRequest request, Size limit) {
        var all = new ByteArrayOutputStream();
        var stream = request.body().stream(limit);
        var piece = new byte[1 + random.nextInt(100_000)];
        var deadline = Deadline.in(Duration.ofSeconds(10));
        int n = stream.read(piece, 0, piece.length, deadline);
        while (n > 0) {
            all.write(piece, 0, n);
            int at = random.nextInt(piece.length);
            n = stream.read(piece, at, piece.length - at, deadline);
            System.arraycopy(piece, at, piece, 0, n);
        }
        request.body().length().ifPresent(length -> assertEquals(length, all.size()));
        return all.toByteArray();
    }

    private void send(RawPeer peer, String path, byte[] bytes) throws IOException {
        var isAnnounced = random.nextBoolean();
        peer.send(
                "PUT %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n"
                        .formatted(
                                path,
                                isAnnounced
                                        ? "Content-Length: " + bytes.length
                                        : "Transfer-Encoding: chunked"));
        for (int at = 0; at < bytes.length; ) {
            int n = Math.min(bytes.length - at, 1 + random.nextInt(100_000));
            if (!isAnnounced) {
                peer.send(Integer.toHexString(n) + "\r\n");
            }
            peer.send(bytes, at, n);
            if (!isAnnounced) {
                peer.send("\r\n");
            }
            at += n;
        }
        if (!isAnnounced) {
            peer.send("0\r\n\r\n");
        }
    }

    private int size(int round) {
        return round < SIZES.length ? SIZES[round] : random.nextInt(200_000);
    }

    private static void fail(BodySink sink, String how) {
        switch (how) {
            case "short" -> {}
            case "long" -> sink.write(new byte[8]);
            case "failure" -> throw new Failure(Code.UNAVAILABLE, "the file shrank");
            default -> throw new IllegalStateException("a fault of ours");
        }
    }

    private static String untilClosed(Streaming streaming) throws InterruptedException {
        var told = streaming.told.poll(10, TimeUnit.SECONDS);
        return "closed".equals(told) ? told : streaming.told.poll(10, TimeUnit.SECONDS);
    }

    private static HttpServer start(HttpHandler handler) {
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, handler);
    }
}
