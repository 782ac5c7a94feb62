package coppice.http;

import static coppice.http.Http2Peer.CONTINUATION;
import static coppice.http.Http2Peer.DATA;
import static coppice.http.Http2Peer.END_HEADERS;
import static coppice.http.Http2Peer.END_STREAM;
import static coppice.http.Http2Peer.ENHANCE_YOUR_CALM;
import static coppice.http.Http2Peer.HEADERS;
import static coppice.http.Http2Peer.INITIAL_WINDOW_SIZE;
import static coppice.http.Http2Peer.NOTHING;
import static coppice.http.Http2Peer.NO_FLAGS;
import static coppice.http.Http2Peer.PING;
import static coppice.http.Http2Peer.PRIORITY;
import static coppice.http.Http2Peer.RST_STREAM;
import static coppice.http.Http2Peer.SETTINGS;
import static coppice.http.Http2Peer.WINDOW_UPDATE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Peers that do what no proper client does are cut off, and a proper one on another connection does not notice.
class HostileHttp2Test {
    /// Few enough for one read, since the end of a connection with something unread is a reset, which can overtake GOAWAY.
    private static final int MANY = 400;

    private static final int VERY_MANY = 5000;

    private Echo echo;
    private HttpServer server;
    private Http2Peer proper;
    private int stream = 1;

    @BeforeEach
    void start() throws IOException {
        echo = new Echo();
        server = HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, echo);
        proper = Http2Peer.connected(server.port());
        assertGoesOn();
    }

    @AfterEach
    void stop() throws IOException {
        assertGoesOn();
        proper.close();
        server.close();
    }

    @Test
    void aFloodOfResetRequestsIsCutOff() throws IOException {
        assertCalmed(
                i ->
                        Http2Peer.join(
                                Http2Peer.frame(
                                        HEADERS,
                                        END_HEADERS | END_STREAM,
                                        2 * i + 1,
                                        Http2Peer.head("GET", "/a")),
                                Http2Peer.frame(
                                        RST_STREAM, NO_FLAGS, 2 * i + 1, Http2Peer.number(8))));
    }

    @Test
    void aFloodOfRequestsThatMakeTheServerResetThemIsCutOff() throws IOException {
        assertCalmed(
                i ->
                        Http2Peer.join(
                                Http2Peer.frame(
                                        HEADERS,
                                        END_HEADERS,
                                        2 * i + 1,
                                        Http2Peer.head("POST", "/a")),
                                Http2Peer.frame(
                                        WINDOW_UPDATE, NO_FLAGS, 2 * i + 1, Http2Peer.number(0))));
    }

    @Test
    void aFloodOfPingsIsCutOff() throws IOException {
        assertCalmed(_ -> Http2Peer.frame(PING, NO_FLAGS, 0, new byte[8]));
    }

    @Test
    void aFloodOfSettingsIsCutOff() throws IOException {
        assertCalmed(_ -> Http2Peer.frame(SETTINGS, NO_FLAGS, 0, NOTHING));
    }

    @Test
    void aFloodOfPrioritiesIsCutOff() throws IOException {
        assertCalmed(i -> Http2Peer.frame(PRIORITY, NO_FLAGS, 2 * i + 1, new byte[5]));
    }

    @Test
    void aFloodOfEmptyDataIsCutOff() throws IOException {
        assertCalmed(
                i ->
                        i == 0
                                ? Http2Peer.frame(
                                        HEADERS, END_HEADERS, 1, Http2Peer.head("POST", "/wait"))
                                : Http2Peer.frame(DATA, NO_FLAGS, 1, NOTHING));
        echo.release.countDown();
    }

    @Test
    void aFloodOfEmptyContinuationsIsCutOff() throws IOException {
        assertCalmed(
                i ->
                        i == 0
                                ? Http2Peer.frame(
                                        HEADERS, END_STREAM, 1, Http2Peer.head("GET", "/a"))
                                : Http2Peer.frame(CONTINUATION, NO_FLAGS, 1, NOTHING));
    }

    @Test
    void aHeadWithoutEndIsCutOffAtItsLimit() throws IOException {
        var field = Http2Peer.field("x", "y".repeat(8000));
        cut(
                MANY,
                i ->
                        i == 0
                                ? Http2Peer.frame(
                                        HEADERS, END_STREAM, 1, Http2Peer.head("GET", "/a"))
                                : Http2Peer.frame(CONTINUATION, NO_FLAGS, 1, field));
    }

    @Test
    void aHeadThatUnfoldsToMoreThanItsLimitIsCutOff() throws IOException {
        var bomb = new ByteArrayOutputStream();
        bomb.writeBytes(Http2Peer.head("GET", "/a"));
        var kept = Http2Peer.field("x", "y".repeat(4000));
        kept[0] = 0x40; // into the dynamic table, of which the newest entry is number 62
        bomb.writeBytes(kept);
        for (int i = 0; i < 10_000; i++) {
            bomb.write(0x80 | 62);
        }
        var frame = Http2Peer.frame(HEADERS, END_HEADERS | END_STREAM, 1, bomb.toByteArray());
        assertTrue(cut(1, _ -> frame).isPresent());
    }

    @Test
    void streamsBeyondTheLimitAreRefused() throws IOException {
        try (var peer = Http2Peer.connected(server.port())) {
            for (int i = 0; i < 129; i++) {
                peer.get(2 * i + 1, "/wait");
            }
            var refused = peer.next(RST_STREAM);
            assertEquals(257, refused.stream());
            assertEquals(7, refused.error());
            echo.release.countDown();
            for (int left = 128; left > 0; ) {
                left -= peer.next().orElseThrow().isLast() ? 1 : 0;
            }
        }
    }

    @Test
    void aFloodOfShortDataThatNobodyReadsIsCutOff() throws IOException {
        var goAway =
                cut(
                        VERY_MANY,
                        i ->
                                i == 0
                                        ? Http2Peer.frame(
                                                HEADERS,
                                                END_HEADERS,
                                                1,
                                                Http2Peer.head("POST", "/wait"))
                                        : Http2Peer.frame(DATA, NO_FLAGS, 1, new byte[1]));
        assertTrue(goAway.isEmpty() || goAway.get().error() == ENHANCE_YOUR_CALM);
        echo.release.countDown();
    }

    @Test
    void answersThatNobodyTakesKeepNobodyFromBeingAnswered() throws IOException {
        var peers = new ArrayList<Http2Peer>();
        for (int i = 0; i < 40; i++) {
            var peer = Http2Peer.connected(server.port(), INITIAL_WINDOW_SIZE, 0);
            peers.add(peer);
            leaveAnswersWaiting(peer);
            assertGoesOn();
        }
        int cut = 0;
        for (var peer : peers) {
            cut += peer.isAlive() ? 0 : 1;
        }
        // Some four thousand may wait, so a fifth of them had to go.
        assertTrue(cut >= 4 && cut <= 16, "%d of 40".formatted(cut));
        for (var peer : peers) {
            peer.close();
        }
    }

    private static void leaveAnswersWaiting(Http2Peer peer) {
        try {
            for (int request = 1; request < 256; request += 2) {
                peer.get(request, "/a");
            }
            for (int request = 1; request < 256; request += 2) {
                peer.next(HEADERS);
            }
        } catch (IOException _) {
            // It is the one that is cut off.
        }
    }

    @Test
    void shortDataThatIsReadMayGoOn() throws Exception {
        try (var peer = Http2Peer.connected(server.port())) {
            for (int request = 1; request < 20; request += 2) {
                peer.post(request, "/a");
                for (int i = 0; i < 900; i++) {
                    peer.send(DATA, NO_FLAGS, request, new byte[1]);
                }
                peer.send(DATA, END_STREAM, request, NOTHING);
                assertTrue(peer.isAnswered(request));
            }
        }
    }

    @Test
    void oneByteFramesThatNobodyReadsDoNotFillTheMemory() throws Exception {
        try (var peer = Http2Peer.connected(server.port())) {
            peer.post(1, "/wait");
            echo.arrived.await();
            long before = memory();
            for (int i = 0; i < 3000; i++) {
                peer.send(DATA, NO_FLAGS, 1, new byte[1]);
                assertGoesOn(); // by then the server has read it, and nothing with it
            }
            long taken = memory() - before;
            assertTrue(taken < 16 << 20, "%d bytes".formatted(taken));
        } finally {
            echo.release.countDown();
        }
    }

    private static long memory() {
        System.gc();
        var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .reduce(heap, Long::sum);
    }

    @Test
    void randomFramesDoNotStopTheServer() throws IOException {
        var random = Seed.random(HostileHttp2Test.class);
        for (int round = 0; round < 100; round++) {
            try (var peer = Http2Peer.connected(server.port())) {
                for (int i = random.nextInt(20); i > 0; i--) {
                    var payload = new byte[random.nextInt(64)];
                    random.nextBytes(payload);
                    var frame =
                            Http2Peer.frame(
                                    random.nextInt(12),
                                    random.nextInt(256),
                                    random.nextInt(6),
                                    payload);
                    peer.send(frame);
                }
            } catch (IOException _) {
                // It was cut off before it was through.
            }
        }
    }

    private void assertCalmed(IntFunction<byte[]> frames) throws IOException {
        assertEquals(ENHANCE_YOUR_CALM, cut(MANY, frames).orElseThrow().error());
    }

    /// Sends what may be cut off at any point, while the proper client goes on.
    private Optional<Http2Peer.Frame> cut(int many, IntFunction<byte[]> frames) throws IOException {
        var all = Http2Peer.join(IntStream.range(0, many).mapToObj(frames).toArray(byte[][]::new));
        try (var peer = Http2Peer.connected(server.port())) {
            var sender =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        try {
                                            peer.send(all);
                                        } catch (IOException _) {
                                            // It is cut off.
                                        }
                                    });
            assertGoesOn();
            var goAway = peer.untilClosed();
            sender.interrupt();
            return goAway;
        }
    }

    private void assertGoesOn() throws IOException {
        assertTrue(proper.get(stream, "/on").isAnswered(stream));
        stream += 2;
    }
}
