package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Refusal;
import coppice.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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
class AnswersTest {
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
    @EnumSource(Code.class)
    void everyFailureHasTheStatusOfItsKind(Code code) {
        var answer = api.send("POST", "/v5/failures/" + code, "");
        assertEquals(Errors.status(code.kind()), answer.status());
        assertEquals(code.name(), answer.code());
        if (code != Code.INTERNAL_ERROR) {
            assertEquals("it failed", answer.message());
        }
        assertEquals(answer.status() == 401 ? "Bearer" : "", answer.header("WWW-Authenticate"));
        assertEquals("application/json", answer.header("Content-Type"));
    }

    @Test
    void detailsStandBesideCodeAndMessage() {
        var json = api.send("POST", "/v5/failures/details", "").json();
        assertEquals(2, json.requiredInteger("limit"));
        assertEquals(2, json.requiredInteger("current"));
        assertEquals("VM_LIMIT_EXCEEDED", json.requiredString("code"));
    }

    @Test
    void theTimeToWaitIsRoundedUpToSeconds() {
        var answer = api.send("POST", "/v5/failures/busy", "");
        assertEquals(429, answer.status());
        assertEquals("2", answer.header("Retry-After"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"crash", "error"})
    void aFaultOfOursHasAnIdAndNoInternals(String kind) {
        var answer = api.send("POST", "/failures/" + kind, "");
        assertEquals(500, answer.status());
        assertEquals("INTERNAL_ERROR", answer.code());
        assertTrue(answer.message().matches(".*req-[a-z0-9]{20}.*"), answer.message());
        assertFalse(answer.text().contains("hunter2"));
        assertFalse(answer.text().contains("Exception"));
        assertEquals("@1735689600", answer.header("Deprecation"));
    }

    @Test
    void theLegacyFamilyAddsItsOwnWords() {
        var answer = api.get("/v1/things/a");
        assertEquals(
                "{\"code\":\"NOT_FOUND\",\"message\":\"no such thing\",\"error\":\"NOT_FOUND\","
                        + "\"description\":\"no such thing\",\"vmId\":\"x\"}",
                answer.text());
        assertEquals("", answer.header("Deprecation"));
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /things, 200",
        "GET, /things/a%2Fb?x=1, 200",
        "DELETE, /things/a, 204",
        "PATCH, /things, 405",
        "POST, /failures/CONFLICT, 409",
        "GET, /things?limit=x, 400"
    })
    void everyAnswerOfAnUnversionedRouteSaysThatItIsDeprecated(
            String method, String path, int status) {
        var answer = api.send(method, path, "");
        var raw = path.replaceAll("\\?.*", "");
        assertEquals(status, answer.status());
        assertEquals("@1735689600", answer.header("Deprecation"));
        assertEquals(
                "<https://api.test/v5%s>; rel=\"successor-version\"".formatted(raw),
                answer.header("Link"));
        var v5 = api.send(method, "/v5" + path, "");
        assertEquals(status, v5.status());
        assertEquals("", v5.header("Deprecation"));
        assertEquals("", v5.header("Link"));
        assertEquals(v5.text(), answer.text());
    }

    @Test
    void anUnauthenticatedAnswerOfAnUnversionedRouteIsDeprecatedToo() {
        var answer = api.send("GET", "/things", "", "X-Nothing", "x");
        assertEquals(401, answer.status());
        assertEquals("@1735689600", answer.header("Deprecation"));
    }

    @Test
    void statusAndTheDescriptionAreNotDeprecated() {
        for (var path : List.of("/status", "/openapi.json", "/nothing")) {
            assertEquals("", api.get(path).header("Deprecation"));
            assertEquals("", api.get(path).header("Link"));
        }
    }

    @Test
    void whatTheServerTurnsAwayIsAnsweredInTheFamilysWords() {
        var door =
                new Api(
                        ApiSettings.at(URI.create("https://x.test")),
                        ApiServer::resolve,
                        ApiServer.routes());
        var busy = new Failure(Code.UNAVAILABLE, "too many").retryAfter(Duration.ofSeconds(1));
        var answer = door.refuse(new Refusal(OptionalInt.of(503), busy, Optional.of("/things/a")));
        assertEquals(503, answer.status());
        assertEquals(Optional.of("1"), answer.headers().first("retry-after"));
        assertEquals(Optional.of("@1735689600"), answer.headers().first("deprecation"));
        var unknown = door.refuse(new Refusal(OptionalInt.of(431), busy, Optional.empty()));
        assertEquals(431, unknown.status());
        assertEquals(Optional.of("application/json"), unknown.headers().first("Content-Type"));
        assertFalse(unknown.headers().has("Deprecation"));
    }

    @Test
    void aPathCannotBreakOutOfTheLinkHeader() throws IOException {
        var answer = api.raw("/things/a>;rel=\"x\",<b");
        assertEquals(200, answer.status());
        assertTrue(
                answer.head()
                        .contains(
                                "Link: <https://api.test/v5/things/a%3E;rel=%22x%22,%3Cb>; rel=\"successor-version\"\r\n"),
                answer.head());
    }

    @ParameterizedTest
    @CsvSource({
        "'', 1000, 0",
        "?limit=&offset=, 1000, 0",
        "?limit=2, 2, 0",
        "?limit=2&offset=7, 2, 7",
        "?offset=1499, 1, 1499",
        "?limit=1000, 1000, 0",
        "?limit=1001, 1000, 0",
        "?limit=99999999999999999999999, 1000, 0",
        "?%6Cimit=3, 3, 0",
        "?limit=002, 2, 0",
        "?other=%20&limit=1, 1, 0"
    })
    void aPageIsPartOfTheListAndTheCountIsOfAll(String query, int items, int first) {
        var json = api.get("/v5/things" + query).json();
        var things = json.integers("things").orElseThrow();
        assertEquals(items, things.size());
        assertEquals(first, things.getFirst());
        assertEquals(1500, json.requiredInteger("totalCount"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"?limit=0", "?offset=1500", "?offset=99999999999999999999"})
    void aPageMayBeEmpty(String query) {
        var json = api.get("/v5/things" + query).json();
        assertEquals(Optional.of(List.of()), json.objects("things"));
        assertEquals(1500, json.requiredInteger("totalCount"));
    }

    @ParameterizedTest
    @CsvSource({
        "limit=-1, limit",
        "limit=1.0, limit",
        "limit=+1, limit",
        "limit=0x1, limit",
        "limit=%D9%A1, limit",
        "offset=a, offset",
        "deep=yes, deep",
        "deep=TRUE, deep",
        "state=broken, state",
        "limit=1&limit=2, limit"
    })
    void aBadQueryValueIsABadRequestThatNamesTheParameter(String query, String name) {
        var answer = api.get("/v5/things?" + query);
        assertEquals(400, answer.status());
        assertEquals("BAD_REQUEST", answer.code());
        assertTrue(answer.message().startsWith("query parameter " + name + " "), answer.message());
    }

    @Test
    void queryValuesReachTheHandlerByType() {
        JsonObject json = api.get("/v5/things?limit=0&state=on&deep=true").json();
        assertEquals("on", json.requiredString("state"));
        assertTrue(json.requiredBool("deep"));
        assertFalse(api.get("/v5/things?limit=0&state=&deep=").json().has("state"));
    }
}
