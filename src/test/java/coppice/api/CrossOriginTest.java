package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.RequestBody;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// What a browser is told of an answer to a page of another origin: the CORS protocol of the Fetch standard.
class CrossOriginTest {
    private static final String PAGE = "https://app.example.com";
    private static final String ORIGIN = "Access-Control-Allow-Origin";
    private static final Headers KEY =
            Headers.of("Authorization", "Bearer " + UUID.randomUUID()).and("Origin", PAGE);

    private static Api api(String... origins) {
        var usual = ApiSettings.at(URI.create("https://api.test"));
        var settings =
                new ApiSettings(
                        usual.baseUrl(),
                        "acme",
                        Instant.EPOCH,
                        usual.maxJson(),
                        usual.maxJsonAtOnce(),
                        Duration.ofSeconds(10),
                        List.of(origins),
                        Optional.empty());
        var route =
                Route.v5(Method.PATCH, "/things/{thing}", "changeThing", _ -> Reply.noContent());
        return new Api(settings, key -> new Caller(UUID.fromString(key.reveal())), List.of(route));
    }

    private static HttpResponse send(Api api, String method, String path, Headers headers) {
        return api.handle(
                new HttpRequest(
                        method, path, Optional.empty(), headers, RequestBody.of(new byte[0])));
    }

    private static HttpResponse preflight(Api api, String path, String names) {
        return send(
                api,
                "OPTIONS",
                path,
                Headers.of("Origin", PAGE)
                        .and("Access-Control-Request-Method", "PATCH")
                        .and("Access-Control-Request-Headers", names));
    }

    @Test
    void aPageOfAnyOriginMaySendWhatTheApiTakesAndReadWhatItAnswers() {
        var api = api("*");
        var asked = preflight(api, "/v5/things/1", "authorization, x-svc-background-after-secs");
        assertEquals(204, asked.status());
        assertEquals(Optional.of("*"), asked.headers().first(ORIGIN));
        assertEquals(Optional.of("PATCH"), asked.headers().first("Access-Control-Allow-Methods"));
        assertEquals(
                Optional.of("authorization, x-svc-background-after-secs"),
                asked.headers().first("Access-Control-Allow-Headers"));
        assertEquals(1, asked.headers().all(ORIGIN).size());
        for (var path : List.of("/v5/things/1", "/v5/nothing")) {
            var answer = send(api, "PATCH", path, KEY);
            assertEquals(List.of("*"), answer.headers().all(ORIGIN), "errors are read, too");
            var exposed = answer.headers().first("Access-Control-Expose-Headers").orElseThrow();
            for (var name :
                    List.of(
                            "x-acme-background-request-id",
                            "x-svc-background-request-id",
                            "X-Request-Id",
                            "Retry-After")) {
                assertTrue(exposed.contains(name), exposed);
            }
            assertEquals(List.of(), answer.headers().all("Access-Control-Allow-Credentials"));
        }
    }

    @Test
    void aPageOfAnotherOriginThanThoseThatAreNamedMayDoNothing() {
        for (var api : List.of(api("https://other.example.com"), api())) {
            var asked = preflight(api, "/v5/things/1", "authorization");
            assertEquals(List.of(), asked.headers().all(ORIGIN));
            assertEquals(List.of(), asked.headers().all("Access-Control-Allow-Headers"));
            assertEquals(List.of(), send(api, "PATCH", "/v5/things/1", KEY).headers().all(ORIGIN));
        }
        var named = send(api("https://a.example.com", PAGE), "PATCH", "/v5/things/1", KEY);
        assertEquals(List.of(PAGE), named.headers().all(ORIGIN));
        assertEquals(List.of("Origin"), named.headers().all("Vary"), "caches keep them apart");
    }

    @Test
    void whatIsNoListOfNamesIsNotSentBack() {
        var asked = preflight(api("*"), "/v5/things/1", "a, <script>");
        assertEquals(List.of(), asked.headers().all("Access-Control-Allow-Headers"));
        assertEquals(404, preflight(api("*"), "/v5/nothing", "a").status());
        assertEquals(405, send(api("*"), "OPTIONS", "/v5/things/1", KEY).status());
    }

    @Test
    void eachAnswerHasAnIdOfItsOwn() {
        var first = send(api("*"), "PATCH", "/v5/things/1", KEY).headers().all("X-Request-Id");
        var second = send(api("*"), "GET", "/status", Headers.none()).headers();
        assertEquals(1, first.size());
        assertTrue(first.getFirst().matches("req-[a-z0-9]{20}"));
        assertTrue(!second.all("X-Request-Id").equals(first));
        assertEquals(List.of(), second.all(ORIGIN), "no browser has asked");
    }
}
