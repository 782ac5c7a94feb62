package coppice.api.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.http.Headers;
import coppice.identity.GivenSignIns;
import coppice.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SignInRoutesTest {
    private static final String BEGIN = "/api/v1/auth/cli";
    private static final String POLL = "/api/v1/auth/cli/poll";
    private static final String REFRESH = "/api/v1/auth/sessions/current/refresh";

    @TempDir private Path directory;
    private SignInServer server;

    @BeforeEach
    void open() {
        server = new SignInServer(directory);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private SignInServer.Answer refresh(String token) {
        return server.send("POST", REFRESH, Headers.of("x-stack-refresh-token", token), "{}");
    }

    private static String status(JsonObject polled) {
        return polled.requiredString("status");
    }

    @Test
    void aProgramSignsInAsItsClientsExpect() {
        var codes = server.post(BEGIN, "{\"expires_in_millis\":600000}").expect(200);
        assertEquals(Set.of("polling_code", "login_code"), codes.fields());
        var pending = server.poll(codes);
        assertEquals("pending", status(pending));
        assertEquals(Set.of("status"), pending.fields());
        var page =
                server.confirm(
                        codes.requiredString("login_code"),
                        "ada@example.org",
                        GivenSignIns.PASSWORD);
        assertEquals(200, page.status(), page.text());
        var done = server.poll(codes);
        assertEquals("success", status(done));
        assertEquals(Set.of("status", "refresh_token"), done.fields());
        var refreshed = refresh(done.requiredString("refresh_token")).expect(200);
        assertEquals(Set.of("access_token"), refreshed.fields());
        var who = server.given.sessions().authenticate(refreshed.requiredString("access_token"));
        assertEquals(server.given.user.id(), who.orElseThrow().user());
        var over = server.poll(codes);
        assertEquals("expired", status(over));
        assertTrue(over.requiredString("error").contains("log in again"));
    }

    @Test
    void whatTheClientSendsOfAProjectMakesNoDifference() {
        var headers =
                Headers.of("Content-Type", "application/json")
                        .and("x-stack-project-id", "0edf478c-f123-46fb-818f-34c0024a9f35")
                        .and("x-stack-publishable-client-key", "pck_x")
                        .and("x-stack-access-type", "client");
        server.send("POST", BEGIN, headers, "{\"expires_in_millis\":600000}").expect(200);
        server.send("POST", BEGIN, Headers.none(), "").expect(200);
    }

    @Test
    void itLastsAsLongAsTheProgramAsksAndTenMinutesIfItDoesNot() {
        var brief = server.post(BEGIN, "{\"expires_in_millis\":1000}").expect(200);
        var usual = server.begin();
        server.given.pass(Duration.ofSeconds(1));
        assertEquals("expired", status(server.poll(brief)));
        server.given.pass(Duration.ofSeconds(598));
        assertEquals("pending", status(server.poll(usual)));
        server.given.pass(Duration.ofSeconds(1));
        assertEquals("expired", status(server.poll(usual)));
    }

    @Test
    void aBodyThatIsNoneIsRefused() {
        for (var body :
                List.of(
                        "{\"expires_in_millis\":0}",
                        "{\"expires_in_millis\":-1}",
                        "{\"expires_in_millis\":\"600000\"}",
                        "{\"expires_in_millis\":1.5}",
                        "[]",
                        "{")) {
            server.post(BEGIN, body).expect(400, "BAD_REQUEST");
        }
        server.post(POLL, "{}").expect(400, "BAD_REQUEST");
        server.post(POLL, "{\"polling_code\":7}").expect(400, "BAD_REQUEST");
        var form = Headers.of("Content-Type", "application/x-www-form-urlencoded");
        for (var path : List.of(BEGIN, POLL, REFRESH)) {
            server.send("POST", path, form, "{}").expect(415, "UNSUPPORTED_MEDIA_TYPE");
            server.get(path).expect(405, "METHOD_NOT_ALLOWED");
        }
    }

    @Test
    void whoeverHasNoCredentialSendsAtMostSixtyFourKib() {
        var fits = "{\"more\":\"%s\"}".formatted("x".repeat((64 << 10) - 11));
        server.post(BEGIN, fits).expect(200);
        server.post(BEGIN, fits + " ").expect(413, "PAYLOAD_TOO_LARGE");
    }

    @Test
    void aHostilePollingCodeIsOneThatNobodyHas() {
        for (var code :
                List.of("", "x", "\\u0000", "' or 1=1 --", "../..", "\\ud83d\\ude00", "é")) {
            var polled = server.post(POLL, "{\"polling_code\":\"%s\"}".formatted(code)).expect(200);
            assertEquals("expired", status(polled), code);
        }
    }

    @Test
    void onlyTheRefreshTokenOfALivingSessionGivesAccess() {
        var token = server.given.refreshToken(server.given.user);
        server.send("POST", REFRESH, Headers.none(), "{}").expect(401, "MISSING_CREDENTIALS");
        for (var wrong : List.of("x", token + "x", server.given.accessToken())) {
            var answer = refresh(wrong);
            answer.expect(401, "INVALID_CLI_CREDENTIAL");
            assertEquals("Bearer", answer.header("WWW-Authenticate"));
        }
        refresh(token).expect(200);
        server.given.users().delete(server.given.user.id());
        refresh(token).expect(401, "INVALID_CLI_CREDENTIAL");
    }

    @Test
    void twentyFromOneAddressAreUnderWayAtOnceAndOfThisMachineMore() {
        for (int i = 0; i < 20; i++) {
            server.begin();
        }
        var full = server.post(BEGIN, "{}");
        full.expect(429, "RATE_LIMITED");
        assertEquals("60", full.header("Retry-After"));
        for (var other : List.of("203.0.113.8", "127.0.0.1")) {
            server.send("POST", BEGIN, Headers.none(), new byte[0], other).expect(200);
        }
    }

    private int beginFrom(String peer, String... forwarded) {
        var headers = Headers.none();
        for (var value : forwarded) {
            headers = headers.and("X-Forwarded-For", value);
        }
        return server.send("POST", BEGIN, headers, new byte[0], peer).status();
    }

    @Test
    void aProxyThatIsBelievedTellsWhereSomebodyComesFromAndNobodyElseDoes() {
        for (int i = 0; i < 20; i++) {
            assertEquals(
                    200, beginFrom(SignInServer.PROXY, "198.51.100.%d, 10.9.9.9".formatted(i)));
        }
        assertEquals(429, beginFrom(SignInServer.PROXY, "10.9.9.9"));
        assertEquals(429, beginFrom(SignInServer.PROXY, "10.8.8.8", " 10.9.9.9 "));
        assertEquals(429, beginFrom("10.9.9.9", "10.8.8.8"));
        assertEquals(200, beginFrom(SignInServer.PROXY, "10.9.9.9, 10.8.8.8"));
        for (var none : List.of("", ",", "10.9.9.9,", "garbage", "10.8.8.8:77", "example.org")) {
            assertEquals(200, beginFrom(SignInServer.PROXY, none));
        }
    }

    @Test
    void anonymousAccountsAreNotProvided() {
        server.get("/v5/free-tier/binary").expect(404, "NOT_FOUND");
        server.post("/v5/free-tier/grant", "{}").expect(404, "NOT_FOUND");
    }

    @Test
    void nothingOfThisIsRecordedButTheConfirmation() {
        var codes = server.begin();
        server.poll(codes);
        var login = codes.requiredString("login_code");
        server.get(SignInServer.PAGE + login);
        server.confirm(login, "ada@example.org", "wrong password");
        assertEquals(List.of(), server.audit);
        server.confirm(login, "ada@example.org", GivenSignIns.PASSWORD);
        refresh(server.poll(codes).requiredString("refresh_token")).expect(200);
        assertEquals(1, server.audit.size());
        var entry = server.audit.getFirst();
        assertEquals("confirmSignIn", entry.operation());
        assertEquals(Optional.of(server.given.user.id().uuid()), entry.user());
        assertEquals(Optional.empty(), entry.account());
        assertEquals("/handler/cli-auth-confirm", entry.path());
    }
}
