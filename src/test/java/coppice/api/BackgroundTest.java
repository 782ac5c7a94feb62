package coppice.api;

import static coppice.api.BackgroundServer.ADA;
import static coppice.api.BackgroundServer.AFTER;
import static coppice.api.BackgroundServer.BOB;
import static coppice.api.BackgroundServer.ID;
import static coppice.api.BackgroundServer.accepted;
import static coppice.api.BackgroundServer.body;
import static coppice.api.BackgroundServer.id;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Size;
import coppice.http.RawPeer;
import coppice.identity.LinuxUsers;
import coppice.json.Json;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// contract/background-requests.md, by real requests.
class BackgroundTest {
    private static final Size MOST = Size.ofMib(64);

    @TempDir private Path directory;
    private BackgroundServer server;

    @BeforeEach
    void start() {
        server = new BackgroundServer(directory);
    }

    @AfterEach
    void close() {
        server.close();
    }

    /// Those that belong to the answer itself.
    private static Map<String, List<String>> headers(HttpResponse<byte[]> answer) {
        var all = new TreeMap<>(answer.headers().map());
        all.keySet().removeAll(List.of("date", "x-request-id", ID));
        return all;
    }

    @Test
    void whatEndsInTimeIsAnsweredAsIfItHadNotBeenAskedFor() {
        server.open("quick");
        var plain = server.send("POST", "/v5/jobs/quick", ADA, Map.of(), new byte[0]);
        var inTime = server.deferred("POST", "/v5/jobs/quick", "30");
        assertEquals(200, inTime.statusCode());
        assertArrayEquals(plain.body(), inTime.body());
        assertEquals(headers(plain), headers(inTime));
        assertEquals(Optional.empty(), id(inTime));
        assertEquals(0, server.rows());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v5/jobs/", "/jobs/", "/v1/jobs/", "/v5/jobs/fail-", "/v1/jobs/fail-"})
    void whatTakesLongerIsPolledAndAnsweredByteForByteInEveryFamily(String path) {
        var accepted = server.deferred("POST", path + "slow", "0.05");
        var id = accepted(accepted);
        var url =
                path.startsWith("/v1")
                        ? "/auth/v1/background-requests/"
                        : path.replaceFirst("/jobs.*", "/background-requests/");
        assertEquals(url + id, body(accepted).requiredString("resultUrl"));
        for (var family : List.of("/v5", "", "/auth/v1")) {
            assertEquals(id, accepted(server.get(family + "/background-requests/" + id)));
        }

        server.open(path.substring(path.lastIndexOf('/') + 1) + "slow");

        server.ended(id);
        var plain = server.send("POST", path + "slow", ADA, Map.of(), new byte[0]);
        for (int i = 0; i < 2; i++) {
            for (var family : List.of("/v5", "/auth/v1")) {
                var replay = server.get(family + "/background-requests/" + id);
                assertEquals(plain.statusCode(), replay.statusCode());
                assertArrayEquals(plain.body(), replay.body());
                assertEquals(headers(plain), headers(replay));
                assertEquals(Optional.of(id), id(replay), "told from a poll that fails");
            }
        }
        var deprecated = server.get("/background-requests/" + id).headers();
        assertEquals(1, deprecated.allValues("Deprecation").size());
        assertEquals(path.contains("fail") ? 503 : 200, plain.statusCode());
    }

    @Test
    void aSlowUploadIsNotCutOffByItsOwnDeferral() throws IOException {
        try (var peer = new RawPeer(server.port())) {
            peer.send(
                    """
                    PUT /v5/upload/later HTTP/1.1
                    Host: x
                    Authorization: Bearer %s
                    %s: 0.01
                    Content-Length: 10

                    01234"""
                            .formatted(ADA, AFTER)
                            .replace("\n", "\r\n"));
            Wait.through(
                    Duration.ofMillis(300),
                    () -> assertEquals(0, server.rows(), "the body is not there yet"));
            peer.send("56789");
            var answer = peer.answer();
            assertEquals(202, answer.status());
            server.open("later");
            var id = Json.parse(answer.body().getBytes(UTF_8)).requiredString("requestId");
            assertEquals(10, body(server.ended(id)).requiredInteger("bytes"));
        }
    }

    @Test
    void aResultOf64MebibytesIsKeptAndALargerOneIsNot() {
        var most = accepted(server.deferred("GET", "/v5/download/all?bytes=" + MOST.bytes(), "0"));
        var more =
                accepted(
                        server.deferred(
                                "GET", "/v5/download/all?bytes=" + (MOST.bytes() + 1), "0"));
        var broken = accepted(server.deferred("GET", "/v5/download/break?bytes=200000", "0"));
        var faulty = accepted(server.deferred("GET", "/v5/download/fault?bytes=200000", "0"));
        server.open("all");
        server.open("break");
        server.open("fault");
        for (int i = 0; i < 2; i++) {
            var whole = server.ended(most);
            assertEquals(200, whole.statusCode());
            assertEquals(MOST.bytes(), whole.body().length);
        }
        var refused = server.ended(more);
        assertEquals(507, refused.statusCode());
        assertEquals("BACKGROUND_RESULT_UNSTORABLE", body(refused).requiredString("code"));
        assertEquals(Optional.of(more), id(refused));
        assertEquals(503, server.ended(broken).statusCode());
        assertEquals(Optional.of(broken), id(server.ended(broken)));
        assertEquals(500, server.ended(faulty).statusCode());
        assertEquals(1, server.files());

        server.now = server.now.plus(Duration.ofMinutes(10));
        assertEquals(404, server.poll(most).statusCode());
        server.requests().expire();
        assertEquals(0, server.files());
        assertEquals(0, server.rows());
    }

    @Test
    void aResultIsThereForTenMinutesAndWhatRunsForLonger() {
        var one = accepted(server.deferred("POST", "/v5/jobs/one", "0"));
        var two = accepted(server.deferred("POST", "/v5/jobs/two", "0"));
        server.open("one");
        server.ended(one);
        server.now = server.now.plus(Duration.ofMinutes(10)).minusMillis(1);
        server.requests().expire();
        assertEquals(200, server.poll(one).statusCode());
        server.now = server.now.plusMillis(1);
        assertEquals(404, server.poll(one).statusCode());
        assertEquals(Optional.empty(), id(server.poll(one)));
        server.now = server.now.plus(Duration.ofDays(1));
        server.requests().expire();
        assertEquals(two, accepted(server.poll(two)));
        server.open("two");
        assertEquals(200, server.ended(two).statusCode());
    }

    @Test
    void nobodyElseSeesARequestAndAnIdentitySeesTheCommandsThatItMayStillRun() {
        var work = accepted(server.deferred("POST", "/v5/jobs/w", "0"));
        var of = UUID.randomUUID();
        server.identities.put(of, LinuxUsers.only("users", List.of("app")));
        var other = UUID.randomUUID();
        server.identities.put(other, LinuxUsers.ANY);
        var mine = accepted(server.as(of, "POST", "/v5/command/c", "{\"user\":\"app\"}"));
        var usual = accepted(server.as(other, "POST", "/v5/command/c", ""));
        for (var id : List.of(work, mine, "bg-00000000000000000000", "nothing")) {
            var refused =
                    server.send("GET", "/v5/background-requests/" + id, BOB, Map.of(), new byte[0]);
            assertEquals(404, refused.statusCode());
            assertEquals("NOT_FOUND", body(refused).requiredString("code"));
            assertEquals(Optional.empty(), id(refused));
        }
        assertEquals(mine, accepted(server.poll(mine)), "the account itself sees it");
        assertEquals(404, pollAs(of, work).statusCode());
        assertEquals(404, pollAs(other, mine).statusCode());
        accepted(pollAs(of, mine));
        accepted(pollAs(other, usual));

        server.identities.put(other, LinuxUsers.only("users", List.of("app")));
        assertEquals(404, pollAs(other, usual).statusCode(), "as whom it ran is not known");
        server.identities.put(of, LinuxUsers.only("users", List.of("root")));
        assertEquals(404, pollAs(of, mine).statusCode());
        server.identities.put(of, LinuxUsers.only("users", List.of("root", "app")));
        accepted(pollAs(of, mine));
        server.identities.remove(of);
        assertEquals(404, pollAs(of, mine).statusCode());
    }

    private HttpResponse<byte[]> pollAs(UUID identity, String id) {
        return server.as(identity, "GET", "/v5/background-requests/" + id, "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "3600.01", "1e3", "soon", " ", "0x1", "1,5"})
    void whatIsNoNumberOfSecondsUpToAnHourIsABadRequest(String after) {
        var refused = server.deferred("POST", "/v5/jobs/x", after);
        assertEquals(400, refused.statusCode());
        assertEquals("BAD_REQUEST", body(refused).requiredString("code"));
        assertEquals(Optional.empty(), id(refused));
    }

    @Test
    void errorsBeforeTheWorkAreToldAtOnce() {
        var bad = server.send("POST", "/v5/jobs/x", ADA, Map.of(AFTER, "0"), "[".getBytes(UTF_8));
        assertEquals(400, bad.statusCode());
        assertEquals(404, server.deferred("POST", "/v5/nothing", "0").statusCode());
        assertEquals(405, server.deferred("DELETE", "/v5/jobs/x", "0").statusCode());
        assertEquals(200, server.deferred("GET", "/status", "0").statusCode());
        assertEquals(0, server.rows());
    }

    @Test
    void theTestRouteSleepsAndSaysSo() {
        var slept = body(server.get("/auth/v1/background-test?sleepSecs=0&message=hi"));
        assertEquals("hi", slept.requiredString("message"));
        assertEquals(0, slept.requiredInteger("sleptSecs"));
        assertTrue(slept.requiredBool("ok"));
        var id = accepted(server.deferred("GET", "/auth/v1/background-test?sleepSecs=1", "0.1"));
        assertEquals("ok", body(server.ended(id)).requiredString("message"));
        for (var query : List.of("sleepSecs=301", "sleepSecs=-1", "sleepSecs=x")) {
            assertEquals(400, server.get("/auth/v1/background-test?" + query).statusCode());
        }
    }
}
