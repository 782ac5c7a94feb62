package coppice.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(Lifecycle.PER_CLASS)
class ContentCodingTest {
    private static final byte[] LONG = "{\"a\":1}".repeat(1000).getBytes(US_ASCII);

    private final HttpClient client = HttpClient.newHttpClient();
    private HttpServer server;

    /// Answers by the path: status, length, and how; the type is the query.
    private static HttpResponse answer(HttpRequest request) {
        var path = request.path().substring(1).split("/");
        var bytes = Arrays.copyOf(LONG, Integer.parseInt(path[1]));
        var type = request.query().orElse("application/json").replace("+", "; ");
        var body =
                switch (path.length > 2 ? path[2] : "") {
                    case "streamed" ->
                            new ResponseBody.Stream(
                                    OptionalLong.of(bytes.length), sink -> sink.write(bytes));
                    default -> new ResponseBody.Bytes(bytes);
                };
        var headers = Headers.of("Content-Type", type);
        return new HttpResponse(
                Integer.parseInt(path[0]),
                path.length > 2 && path[2].equals("coded")
                        ? headers.and("Content-Encoding", "br")
                        : headers,
                body);
    }

    @BeforeAll
    void start() {
        server =
                HttpServer.start(
                        new InetSocketAddress("127.0.0.1", 0),
                        HttpLimits.DEFAULT,
                        new Streaming(ContentCodingTest::answer));
    }

    @AfterAll
    void stop() {
        client.close();
        server.close();
    }

    @ParameterizedTest
    @CsvSource({
        "'', false",
        "gzip, true",
        "GZip, true",
        "x-gzip, true",
        "'br, gzip', true",
        "'gzip, deflate, br', true",
        "br, false",
        "gzip;q=0, false",
        "gzip;q=0.000, false",
        "gzip;q=0.001, true",
        "gzip ; q=1.000, true",
        "gzip;q=2, false",
        "gzip;q=, false",
        "gzip;level=9, false",
        "*, true",
        "*;q=0, false",
        "'gzip;q=0, *', false",
        "'gzip, *;q=0', true",
        "identity, false",
        "identity;q=0, false",
        "'identity;q=0, gzip', true",
        "'identity;q=0, *', true",
        "'gzip;q=0.5, identity', false",
        "'gzip;q=0.5, identity;q=0.5', true",
        "'gzip;q=0, identity;q=0', false",
        "', ,gzip', true",
        "';;q=,=;', false"
    })
    void aLongAnswerIsCompressedForWhoeverAcceptsIt(String accepted, boolean isCompressed)
            throws Exception {
        var answer = get(Version.HTTP_1_1, "/200/7000", accepted);
        assertEquals(isCompressed, answer.headers().firstValue("Content-Encoding").isPresent());
        assertEquals("Accept-Encoding", answer.headers().firstValue("Vary").orElseThrow());
        assertArrayEquals(LONG, isCompressed ? unpacked(answer.body()) : answer.body());
        assertTrue(!isCompressed || answer.body().length < 500);
    }

    @ParameterizedTest
    @EnumSource(
            value = Version.class,
            names = {"HTTP_1_1", "HTTP_2"})
    void headTellsWhatGetWouldAnswer(Version version) throws Exception {
        for (var accepted : new String[] {"gzip", "br"}) {
            var get = get(version, "/200/7000", accepted);
            var head =
                    client.send(
                            request(version, "/200/7000", accepted).HEAD().build(),
                            BodyHandlers.ofByteArray());
            for (var name :
                    new String[] {"Content-Length", "Content-Encoding", "Content-Type", "Vary"}) {
                assertEquals(get.headers().allValues(name), head.headers().allValues(name), name);
            }
            assertEquals(
                    get.body().length,
                    get.headers().firstValueAsLong("Content-Length").getAsLong());
            assertEquals(0, head.body().length);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/200/1023",
                "/204/0",
                "/304/0",
                "/206/7000",
                "/200/7000?image/png",
                "/200/7000?text/html",
                "/200/7000?application/octet-stream",
                "/200/7000/streamed",
                "/200/7000/coded"
            })
    void whatIsShortOrPartOfSomethingOrNoTextOrStreamedIsSentAsItIs(String path) throws Exception {
        var answer = get(Version.HTTP_1_1, path, "gzip");
        assertFalse(answer.headers().allValues("Content-Encoding").contains("gzip"));
        assertTrue(answer.headers().firstValue("Vary").isEmpty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/200/1024",
                "/404/1024",
                "/200/7000?text/plain",
                "/200/7000?Text/Plain+charset=utf-8",
                "/500/7000?application/json+charset=utf-8"
            })
    void everyLongTextIsCompressedWhateverItsStatus(String path) throws Exception {
        var answer = get(Version.HTTP_2, path, "gzip");
        assertEquals("gzip", answer.headers().firstValue("Content-Encoding").orElse("none"));
        unpacked(answer.body());
    }

    @Test
    void acceptedCodingsMayBeInSeveralFields() throws Exception {
        var request =
                request(Version.HTTP_1_1, "/200/7000", "br").header("Accept-Encoding", "gzip");
        var answer = client.send(request.build(), BodyHandlers.ofByteArray());
        assertArrayEquals(LONG, unpacked(answer.body()));
    }

    private java.net.http.HttpResponse<byte[]> get(Version version, String path, String accepted)
            throws Exception {
        var request = request(version, path, accepted).build();
        return client.send(request, BodyHandlers.ofByteArray());
    }

    private java.net.http.HttpRequest.Builder request(
            Version version, String path, String accepted) {
        var request =
                java.net.http.HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path)))
                        .version(version)
                        .method("GET", BodyPublishers.noBody());
        return accepted.isEmpty() ? request : request.header("Accept-Encoding", accepted);
    }

    private static byte[] unpacked(byte[] bytes) throws IOException {
        try (var gzip = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return gzip.readAllBytes();
        }
    }
}
