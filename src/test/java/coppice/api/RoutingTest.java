package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(Lifecycle.PER_CLASS)
class RoutingTest {
    private ApiServer api;

    @BeforeAll
    void start() {
        api = new ApiServer();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/v5/things/abc, abc",
        "/things/abc, abc",
        "/v5/things/abc/, abc",
        "/v5/things/a%2Fb, a/b",
        "/v5/things/a%25b, a%b",
        "/v5/things/a%252Fb, a%2Fb",
        "/v5/things/%C3%A4, ä",
        "/v5/things/a+b, a+b",
        "/v5/things/a;b=c, a;b=c",
        "/v5/things/.., ..",
        "/v5/things/%2e%2e, ..",
        "/v5/things/all, literal",
        "/v5/things/all/, literal",
        "/v5/snapshots/svc%2Fubuntu, svc/ubuntu",
        "/v5/snapshots/svc/ubuntu, svc/ubuntu",
        "/snapshots/svc/ubuntu/, svc/ubuntu",
        "/v5/snapshots/sh-1, sh-1",
        "http://x/v5/things/abc, abc"
    })
    void pathsAreRoutedRawAndDecodedBySegment(String path, String id) throws IOException {
        var answer = api.raw(path);
        assertEquals(200, answer.status(), answer.toString());
        assertEquals("{\"id\":\"%s\"}".formatted(id), answer.body());
    }

    @Test
    void literalSegmentsBehindAParameterOfTwoSegmentsAreFound() {
        assertEquals(
                "svc/ubuntu",
                api.send("POST", "/v5/snapshots/svc/ubuntu/boot", "").json().requiredString("id"));
        assertEquals("x", api.send("POST", "/v5/snapshots/x/boot", "").json().requiredString("id"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/v5",
                "/v5/",
                "/v5/nothing",
                "/v5//things",
                "/v5/things//",
                "/v5/things/a/b/c",
                "//v5/things",
                "/v5/status",
                "/v5/openapi.json",
                "/V5/things",
                "/v5/snapshots//ubuntu",
                "/v5/snapshots/a/b/c",
                "/v5/things/%2F/x",
                "/v1/things",
                "/v5/*",
                "/v5/../v5/things"
            })
    void unknownPathsAreNotFoundWhoeverAsks(String path) throws IOException {
        var answer = api.raw(path);
        assertEquals(404, answer.status(), answer.toString());
        assertTrue(
                answer.body().startsWith("{\"code\":\"NOT_FOUND\",\"message\":\""), answer.body());
        assertTrue(answer.head().contains("\r\nContent-Type: application/json\r\n"), answer.head());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v5/things/%ZZ",
                "/v5/things/a%",
                "/v5/things/%c0%af",
                "/v5/things/%ff",
                "/v5/things/%00",
                "/v5/things/%ed%a0%80",
                "/v5/things?limit=%ZZ",
                "/v5/things?limit=%ff"
            })
    void brokenEncodingsAreBadRequests(String path) throws IOException {
        var answer = api.raw(path);
        assertEquals(400, answer.status(), answer.toString());
        assertTrue(answer.body().startsWith("{\"code\":\"BAD_REQUEST\""), answer.body());
    }

    @Test
    void aWrongMethodIsToldTheRightOnesBeforeAnyCredential() {
        var answer = api.send("PATCH", "/v5/things/abc", "{}", "X-Nothing", "x");
        assertEquals(405, answer.status());
        assertEquals("METHOD_NOT_ALLOWED", answer.code());
        assertEquals("GET, HEAD, DELETE", answer.header("Allow"));
        assertEquals(405, api.send("OPTIONS", "/v5/things", "").status());
        assertEquals(405, api.send("BREW", "/v5/things", "").status());
        assertEquals(405, api.send("POST", "/status", "").status());
        assertEquals("GET, HEAD", api.send("DELETE", "/things/all", "").header("Allow"));
    }

    @Test
    void headIsServedByGet() {
        var head = api.send("HEAD", "/v5/things/abc", "");
        var get = api.get("/v5/things/abc");
        assertEquals(200, head.status());
        assertEquals("", head.text());
        assertEquals(get.header("Content-Length"), head.header("Content-Length"));
    }

    @Test
    void aDeleteIsAnsweredWithoutBody() {
        var answer = api.send("DELETE", "/v5/things/abc", "not looked at");
        assertEquals(204, answer.status());
        assertEquals("", answer.text());
        assertEquals("", answer.header("Content-Type"));
    }

    @Test
    void theBaseUrlsPathComesBeforeEveryRoute() throws IOException {
        var settings = ApiSettings.at(URI.create("https://api.test/cloud/"));
        try (var prefixed = new ApiServer(settings)) {
            assertEquals("abc", prefixed.get("/v5/things/abc").json().requiredString("id"));
            assertEquals(200, prefixed.get("/status").status());
            assertEquals(
                    "<https://api.test/cloud/v5/things/abc>; rel=\"successor-version\"",
                    prefixed.get("/things/abc").header("Link"));
            assertEquals(404, prefixed.raw("/v5/things/abc").status());
            assertEquals(404, prefixed.raw("/cloudy/v5/things/abc").status());
        }
    }

    @Test
    void twoRoutesForOnePlaceAreRefusedAtTheStart() {
        var one = Route.v5(Method.GET, "/a/{b}", "one", _ -> Reply.noContent());
        var same = Route.v5(Method.GET, "/a/{c}", "two", _ -> Reply.noContent());
        var sameId = Route.v5(Method.GET, "/b", "one", _ -> Reply.noContent());
        var settings = ApiSettings.at(URI.create("http://x"));
        for (var routes : List.of(List.of(one, same), List.of(one, sameId))) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new Api(settings, ApiServer::resolve, routes));
        }
    }
}
