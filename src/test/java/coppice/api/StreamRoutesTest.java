package coppice.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.BodyWriter;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.http.RawPeer;
import coppice.http.RawSocket;
import coppice.http.ResponseBody;
import coppice.http.WebSocket;
import coppice.http.WebSocketHandler;
import coppice.json.Schema;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Routes that answer with streams and sockets, in all families.
@TestInstance(Lifecycle.PER_CLASS)
class StreamRoutesTest {
    private static final String KEY = "Authorization: Bearer " + ApiServer.KEY + "\r\n";
    private static final byte[] FILE = "0123456789".getBytes(UTF_8);

    private final AtomicInteger calls = new AtomicInteger();
    private HttpServer server;

    @BeforeAll
    void start() {
        var settings = ApiSettings.at(URI.create("https://api.test"));
        var api = new Api(settings, ApiServer::resolve, routes());
        server = HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, api);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private List<Route> routes() {
        return List.of(
                Route.v5(Method.GET, "/files/{file}", "readFile", StreamRoutesTest::read)
                        .query("part", Schema.bool(), "Only a part.")
                        .returns(new Output.Ranges()),
                Route.v5(Method.GET, "/sockets/{socket}", "openSocket", this::open)
                        .query("cols", Schema.integer(1, 1000), "Its width.")
                        .returns(new Output.Upgrade()),
                Route.legacy(Method.GET, "/v1/sockets/{socket}", "oldSocket", this::open)
                        .returns(new Output.Upgrade()),
                Route.legacy(Method.POST, "/v1/lines", "lines", _ -> Reply.lines(lines()))
                        .returns(new Output.Lines()));
    }

    private static Reply read(Call call) {
        if (call.path("file").equals("absent")) {
            throw new Failure(Code.NOT_FOUND, "no such file");
        }
        if (call.path("file").equals("gone")) {
            return Reply.stream(new ResponseBody.Stream(OptionalLong.of(10), _ -> lose()));
        }
        var isPart = call.query().bool("part").orElse(false);
        int length = isPart ? 3 : FILE.length;
        var body =
                new ResponseBody.Stream(
                        OptionalLong.of(length), sink -> sink.write(FILE, 0, length));
        return isPart
                ? Reply.part(body).with("Content-Range", "bytes 0-2/10")
                : Reply.stream(body).with("Accept-Ranges", "bytes");
    }

    private static void lose() {
        throw new Failure(Code.UNAVAILABLE, "the file was lost").retryAfter(Duration.ofSeconds(3));
    }

    private Reply open(Call call) {
        calls.incrementAndGet();
        if (call.path("socket").equals("absent")) {
            throw new Failure(Code.NOT_FOUND, "no such socket");
        }
        return Reply.upgrade(new Greeting());
    }

    private static BodyWriter lines() {
        return sink -> {
            sink.write("one\n".getBytes(UTF_8));
            sink.flush();
            sink.write("two\n".getBytes(UTF_8));
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v5/files/a", "/files/a"})
    void aStreamHasItsStatusAndHeadersAndThoseOfItsFamily(String path) throws IOException {
        var whole = ask("GET " + path + " HTTP/1.1\r\n" + KEY);
        assertEquals(200, whole.status());
        assertEquals("0123456789", whole.body());
        assertTrue(whole.head().contains("Content-Type: application/octet-stream\r\n"));
        assertTrue(whole.head().contains("Accept-Ranges: bytes\r\n"), whole.head());
        assertEquals(path.startsWith("/files"), whole.head().contains("Deprecation: @"));
        var part = ask("GET " + path + "?part=true HTTP/1.1\r\n" + KEY);
        assertEquals(206, part.status());
        assertEquals("012", part.body());
        assertTrue(part.head().contains("Content-Range: bytes 0-2/10\r\n"), part.head());
        assertEquals(404, ask("GET /files/absent HTTP/1.1\r\n" + KEY).status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v5/files/gone", "/files/gone"})
    void aStreamThatFailsBeforeItsFirstByteIsAnsweredAsItWouldBeWithoutOne(String path)
            throws IOException {
        var answer = ask("GET " + path + " HTTP/1.1\r\n" + KEY);
        assertEquals(503, answer.status());
        assertTrue(answer.body().contains("the file was lost"), answer.body());
        assertTrue(answer.body().contains("UNAVAILABLE"), answer.body());
        assertTrue(answer.head().contains("Retry-After: 3\r\n"), answer.head());
        assertFalse(answer.head().contains("octet-stream"), answer.head());
        assertEquals(path.startsWith("/files"), answer.head().contains("Deprecation: @"));
    }

    @Test
    void linesComeInChunksAndAreText() throws IOException {
        try (var peer = new RawPeer(server.port())) {
            var asked = "POST /v1/lines HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + KEY;
            var answer = peer.send(asked + "\r\n").answer();
            assertTrue(answer.head().contains("Content-Type: text/plain\r\n"), answer.head());
            assertEquals("one\ntwo\n", new String(peer.chunks(), UTF_8));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/v5/sockets/a", "/sockets/a", "/v1/sockets/a", "/v5/sockets/a|b?x=%ZZ"})
    void anUpgradeKeepsTheHeadersOfItsFamilyAndOpens(String path) throws IOException {
        try (var peer = new RawPeer(server.port())) {
            peer.send("GET " + path + " HTTP/1.1\r\n" + RawSocket.ASK + KEY + "\r\n");
            var answer = peer.answer();
            assertEquals(101, answer.status());
            assertEquals(path.startsWith("/sockets"), answer.head().contains("Deprecation: @"));
            assertEquals("hello", new String(peer.read(7), 2, 5, UTF_8));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/v5/sockets/a, true, false, 401",
        "/v5/sockets/a, false, false, 401",
        "/v5/sockets/a, false, true, 426",
        "/sockets/a, false, true, 426",
        "/v1/sockets/a, false, true, 426",
        "/v5/sockets/absent, true, true, 404",
        "/v5/sockets/a?cols=x, true, true, 400",
        "/v5/nothing, true, true, 404"
    })
    void whatIsWrongIsAnsweredAsPlainHttp(
            String path, boolean isUpgrade, boolean hasKey, int status) throws IOException {
        var before = calls.get();
        var answer =
                ask(
                        "GET %s HTTP/1.1\r\n%s%s"
                                .formatted(
                                        path,
                                        isUpgrade ? RawSocket.ASK.replace("Host: x\r\n", "") : "",
                                        hasKey ? KEY : ""));
        assertEquals(status, answer.status(), answer.head());
        assertTrue(answer.body().startsWith("{\"code\":\""), answer.body());
        if (status == 426) {
            assertTrue(answer.body().contains("UPGRADE_REQUIRED"), answer.body());
            assertTrue(answer.head().contains("Upgrade: websocket\r\n"), answer.head());
            assertEquals(path.startsWith("/v1"), answer.body().contains("\"description\""));
            assertEquals(path.startsWith("/sockets"), answer.head().contains("Deprecation: @"));
            assertEquals(before, calls.get(), "the handler was called");
        }
    }

    @Test
    void theDescriptionHasRangesLinesAndUpgrades() throws IOException {
        var text = ask("GET /openapi.json HTTP/1.1\r\n").body();
        var result = new OpenAPIV3Parser().readContents(text);
        assertEquals(List.of(), result.getMessages());
        var paths = result.getOpenAPI().getPaths();
        var read = paths.get("/v5/files/{file}").getGet();
        for (var status : List.of("200", "206")) {
            var content = read.getResponses().get(status).getContent();
            assertNotNull(content.get("application/octet-stream"), status);
        }
        assertTrue(isDeferrable(read));
        var open = paths.get("/v5/sockets/{socket}").getGet();
        assertNull(open.getResponses().get("101").getContent());
        assertNotNull(open.getResponses().get("426"));
        assertFalse(isDeferrable(open));
        var lines = paths.get("/v1/lines").getPost();
        assertNotNull(lines.getResponses().get("200").getContent().get("text/plain"));
        assertFalse(isDeferrable(lines));
    }

    private static boolean isDeferrable(Operation operation) {
        return operation.getParameters() != null
                && operation.getParameters().stream()
                        .anyMatch(
                                parameter ->
                                        "header".equals(parameter.getIn())
                                                || parameter.get$ref() != null);
    }

    private RawPeer.Answer ask(String head) throws IOException {
        try (var peer = new RawPeer(server.port())) {
            return peer.send(head + "Host: x\r\n\r\n").answer();
        }
    }

    private static final class Greeting implements WebSocketHandler {
        @Override
        public void opened(WebSocket socket) {
            socket.send("hello");
        }

        @Override
        public void text(String message) {}

        @Override
        public void binary(byte[] message) {}

        @Override
        public void closed(int code, String reason) {}
    }
}
