package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Deadline;
import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class Http2Test {
    private static final Size LIMIT = Size.ofMib(16);

    @Test
    void aClientMayUpgradeOrKnowBeforehand() throws Exception {
        try (var server = start(new Echo());
                var client = HttpClient.newHttpClient();
                var peer = Http2Peer.connected(server.port())) {
            var answer = client.send(request(server, "/a").build(), BodyHandlers.ofString());
            assertEquals(HttpClient.Version.HTTP_2, answer.version());
            assertEquals("GET /a - ", answer.body());
            assertTrue(peer.get(1, "/a").isAnswered(1));
        }
    }

    @Test
    void pathsArriveAsTheyWereSent() throws IOException {
        try (var server = start(new Echo());
                var peer = Http2Peer.connected(server.port())) {
            int stream = 1;
            for (var path : new String[] {"/a%2Fb", "//a//b/", "/a/../b", "/a;x=y/%2e%2e/b"}) {
                peer.get(stream, path + "?q=%2F");
                var answer = new String(peer.next(Http2Peer.DATA).payload(), UTF_8);
                assertEquals("GET " + path + " q=%2F ", answer);
                stream += 2;
            }
        }
    }

    @Test
    void theAuthorityArrivesAsHost() throws Exception {
        var hosts =
                new Streaming(
                        request ->
                                HttpResponse.of(
                                        200,
                                        "text/plain",
                                        request.headers().all("Host").toString().getBytes(UTF_8)));
        try (var server = start(hosts);
                var client = HttpClient.newHttpClient()) {
            client.send(request(server, "/").build(), BodyHandlers.discarding());
            var second = client.send(request(server, "/").build(), BodyHandlers.ofString());
            assertEquals("[127.0.0.1:%d]".formatted(server.port()), second.body());
        }
    }

    @Test
    void headIsAnsweredLikeGetWithoutTheBody() throws Exception {
        try (var server = start(new Echo());
                var client = HttpClient.newHttpClient()) {
            client.send(request(server, "/").build(), BodyHandlers.discarding());
            var head =
                    client.send(request(server, "/a").HEAD().build(), BodyHandlers.ofByteArray());
            assertEquals("10", head.headers().firstValue("Content-Length").orElseThrow());
            assertEquals(0, head.body().length);
        }
    }

    @Test
    void aBodyIsKnownToBeThereOrNotWhetherAnnouncedOrNot() throws Exception {
        var lengths =
                new Streaming(
                        request -> {
                            var length = request.body().length();
                            var bytes = request.body().read(LIMIT, deadline());
                            return HttpResponse.of(
                                    200,
                                    "text/plain",
                                    (length + " " + bytes.length).getBytes(UTF_8));
                        });
        try (var server = start(lengths);
                var peer = Http2Peer.connected(server.port())) {
            peer.get(1, "/");
            assertEquals("OptionalLong[0] 0", text(peer.next(Http2Peer.DATA)));
            peer.post(3, "/").send(Http2Peer.DATA, Http2Peer.END_STREAM, 3, new byte[5]);
            assertEquals("OptionalLong.empty 5", text(peer.next(Http2Peer.DATA)));
            var head =
                    Http2Peer.join(
                            Http2Peer.head("POST", "/"), Http2Peer.field("content-length", "5"));
            peer.send(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 5, head);
            peer.send(Http2Peer.DATA, Http2Peer.END_STREAM, 5, new byte[5]);
            assertEquals("OptionalLong[5] 5", text(peer.next(Http2Peer.DATA)));
        }
    }

    @Test
    void bodiesOfSomeMebibytesArriveWholeBothWaysAtTheSameTime() throws Exception {
        var random = Seed.random(Http2Test.class);
        var copy = new Streaming(request -> stream(readAll(request)));
        try (var server = start(copy);
                var client = HttpClient.newHttpClient();
                var tasks = Executors.newVirtualThreadPerTaskExecutor()) {
            client.send(request(server, "/").build(), BodyHandlers.discarding());
            var all = new ArrayList<Future<?>>();
            for (int i = 0; i < 6; i++) {
                var bytes = new byte[random.nextInt(6 << 20)];
                random.nextBytes(bytes);
                var request = request(server, "/").POST(BodyPublishers.ofByteArray(bytes)).build();
                all.add(
                        tasks.submit(
                                () -> {
                                    var answer = client.send(request, BodyHandlers.ofByteArray());
                                    assertArrayEquals(bytes, answer.body());
                                    return answer;
                                }));
            }
            for (var one : all) {
                one.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void whatIsNotReadStaysWithItsSender() throws Exception {
        var echo = new Echo();
        try (var server = start(echo);
                var peer = Http2Peer.connected(server.port())) {
            peer.post(1, "/wait");
            echo.arrived.await();
            int sent = 0;
            while (sent < 128 << 10) {
                peer.send(Http2Peer.DATA, Http2Peer.NO_FLAGS, 1, new byte[16 << 10]);
                sent += 16 << 10;
            }
            // The window is used up, and nothing opens it.
            peer.send(Http2Peer.PING, Http2Peer.NO_FLAGS, 0, new byte[8]);
            for (var frame = peer.next().orElseThrow();
                    frame.type() != Http2Peer.PING;
                    frame = peer.next().orElseThrow()) {
                assertTrue(frame.type() != Http2Peer.WINDOW_UPDATE || frame.stream() == 0);
            }
            peer.send(Http2Peer.DATA, Http2Peer.NO_FLAGS, 1, new byte[1]);
            assertEquals(3, peer.next(Http2Peer.GOAWAY).error());
            echo.release.countDown();
        }
    }

    @Test
    void aWriterIsReleasedWhenItsDownloadIsCancelled() throws Exception {
        var endless =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.empty(),
                                        sink -> {
                                            while (true) {
                                                sink.write(new byte[100_000]);
                                            }
                                        }));
        try (var server = start(endless);
                var peer = Http2Peer.connected(server.port())) {
            peer.get(1, "/").next(Http2Peer.DATA);
            peer.send(Http2Peer.RST_STREAM, Http2Peer.NO_FLAGS, 1, Http2Peer.number(8));
            assertEquals("UNAVAILABLE", endless.told.poll(10, TimeUnit.SECONDS));
            assertEquals("closed", endless.told.poll(10, TimeUnit.SECONDS));
            peer.enlarge(0, 1 << 20).get(3, "/");
            assertTrue(peer.next(Http2Peer.HEADERS).isOk());
        }
    }

    @Test
    void aBodyThatFailsInTheMiddleIsSeenToBeCut() throws Exception {
        var broken =
                new Streaming(
                        _ ->
                                Streaming.stream(
                                        OptionalLong.empty(),
                                        sink -> {
                                            sink.write("abc".getBytes(UTF_8));
                                            sink.flush();
                                            throw new IllegalStateException("broken");
                                        }));
        try (var server = start(broken);
                var peer = Http2Peer.connected(server.port())) {
            peer.get(1, "/");
            assertEquals("abc", text(peer.next(Http2Peer.DATA)));
            assertEquals(1, peer.next(Http2Peer.RST_STREAM).stream());
        }
    }

    @Test
    void aWebSocketIsNotOpenedOnAStream() throws IOException {
        var sockets = Sockets.echo();
        try (var server = HttpServer.start(address(), HttpLimits.DEFAULT, sockets);
                var peer = Http2Peer.connected(server.port())) {
            var head =
                    Http2Peer.join(
                            Http2Peer.field(":method", "CONNECT"),
                            Http2Peer.field(":protocol", "websocket"),
                            Http2Peer.field(":scheme", "http"),
                            Http2Peer.field(":path", "/"),
                            Http2Peer.field(":authority", "x"),
                            Http2Peer.field("sec-websocket-version", "13"));
            peer.send(Http2Peer.HEADERS, Http2Peer.END_HEADERS, 1, head);
            assertEquals(1, peer.next(Http2Peer.RST_STREAM).stream());
        }
    }

    private static String text(Http2Peer.Frame data) {
        return new String(data.payload(), UTF_8);
    }

    private static HttpResponse stream(byte[] bytes) {
        return Streaming.stream(OptionalLong.of(bytes.length), sink -> sink.write(bytes));
    }

    private static byte[] readAll(HttpRequest request) {
        return request.body().read(LIMIT, deadline());
    }

    private static Deadline deadline() {
        return Deadline.in(Duration.ofSeconds(30));
    }

    private static java.net.http.HttpRequest.Builder request(HttpServer server, String path) {
        return java.net.http.HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path)));
    }

    private static HttpServer start(HttpHandler handler) {
        return HttpServer.start(address(), HttpLimits.DEFAULT, handler);
    }

    private static InetSocketAddress address() {
        return new InetSocketAddress("127.0.0.1", 0);
    }
}
