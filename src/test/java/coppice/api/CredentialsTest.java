package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.base.Size;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@TestInstance(Lifecycle.PER_CLASS)
class CredentialsTest {
    private ApiServer api;

    @BeforeAll
    void start() {
        api =
                new ApiServer(
                        new ApiSettings(
                                URI.create("https://api.test"),
                                "acme",
                                Instant.EPOCH,
                                Size.ofMib(16),
                                Size.ofMib(64),
                                Duration.ofSeconds(10),
                                List.of("*"),
                                Optional.empty()));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @ParameterizedTest
    @CsvSource({
        "X-Nothing, x, 401, MISSING_CREDENTIALS",
        "Authorization, Basic YTpi, 401, MISSING_CREDENTIALS",
        "Authorization, Bearerx, 401, MISSING_CREDENTIALS",
        "Authorization, Bearer, 401, INVALID_API_KEY",
        "Authorization, Bearer wrong, 401, INVALID_API_KEY",
        "x-svc-identity-access-token, sit_1, 401, INVALID_IDENTITY_TOKEN",
        "X-Acme-Identity-Access-Token, sit_1, 401, INVALID_IDENTITY_TOKEN",
        "X-Svc-Team-Id, t1, 401, MISSING_CREDENTIALS"
    })
    void aKnownRouteNeedsAUsableCredential(String header, String value, int status, String code) {
        for (var path : new String[] {"/v5/things", "/things"}) {
            var answer = api.send("GET", path, "", header, value);
            assertEquals(status, answer.status());
            assertEquals(code, answer.code());
            assertEquals("Bearer", answer.header("WWW-Authenticate"));
            assertFalse(answer.text().contains("wrong"));
        }
    }

    @Test
    void thatNobodyCanTellWhoseAKeyIsIsNoFaultOfTheKey() {
        var answer = api.send("GET", "/v5/things", "", "Authorization", "Bearer down");
        assertEquals(503, answer.status());
        assertEquals("KEY_RESOLVER_UNAVAILABLE", answer.code());
    }

    @Test
    void theSchemeWordIsCaseInsensitive() {
        assertEquals(
                200,
                api.send("GET", "/v5/things", "", "authorization", "bearer  " + ApiServer.KEY)
                        .status());
    }

    @Test
    void bothKindsOfCredentialTogetherAreABadRequest() {
        for (var brand : new String[] {"svc", "acme"}) {
            var answer =
                    api.send(
                            "GET",
                            "/v5/things",
                            "",
                            "Authorization",
                            "Bearer " + ApiServer.KEY,
                            "x-%s-identity-access-token".formatted(brand),
                            "sit_1");
            assertEquals(400, answer.status());
            assertEquals("BAD_REQUEST", answer.code());
        }
    }

    @Test
    void twoDifferentAuthorizationHeadersAreABadRequest() {
        var answer =
                api.send(
                        "GET",
                        "/v5/things",
                        "",
                        "Authorization",
                        "Bearer " + ApiServer.KEY,
                        "Authorization",
                        "Bearer other");
        assertEquals(400, answer.status());
    }

    @ParameterizedTest
    @CsvSource({
        "X-Svc-Team-Id, t1, 401, INVALID_CLI_CREDENTIAL",
        "x-acme-team-id, t1, 401, INVALID_CLI_CREDENTIAL",
        "X-Svc-Team-Id, 0b8e6c0a-4f0e-4d7f-8f43-6a1a2c3d4e5f, 401, INVALID_CLI_CREDENTIAL",
        "X-Svc-Team-Id, '', 400, INVALID_CLI_TEAM_HEADER",
        "X-Svc-Team-Id, ' ', 400, INVALID_CLI_TEAM_HEADER",
        "X-Svc-Team-Id, ../t1, 400, INVALID_CLI_TEAM_HEADER",
        "X-Svc-Team-Id, 'a b', 400, INVALID_CLI_TEAM_HEADER"
    })
    void theTeamHeaderTurnsTheKeyIntoASignInToken(
            String header, String value, int status, String code) {
        var answer =
                api.send(
                        "GET",
                        "/v5/things",
                        "",
                        "Authorization",
                        "Bearer " + ApiServer.KEY,
                        header,
                        value);
        assertEquals(status, answer.status());
        assertEquals(code, answer.code());
    }

    private ApiServer.Answer signedIn(String path, String token, String... team) {
        var headers = new ArrayList<>(List.of("Authorization", "Bearer " + token));
        headers.addAll(List.of(team));
        return api.send("GET", path, "", headers.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({
        "sat_signed_in, 0b8e6c0a-4f0e-4d7f-8f43-6a1a2c3d4e5f, 200, ''",
        "sat_signed_in, 00000000-4f0e-4d7f-8f43-6a1a2c3d4e5f, 403, CLI_TEAM_ACCESS_DENIED",
        "sat_signed_in, t1, 403, CLI_TEAM_ACCESS_DENIED",
        "sat_signed_in, down, 503, CLI_TEAM_RESOLVER_UNAVAILABLE",
        "sat_signed_in, 'a b', 400, INVALID_CLI_TEAM_HEADER",
        "down, t1, 503, KEY_RESOLVER_UNAVAILABLE",
        "wrong, t1, 401, INVALID_CLI_CREDENTIAL"
    })
    void whoIsSignedInActsAsTheAccountBehindItsTeam(
            String token, String team, int status, String code) {
        for (var header : List.of("X-Svc-Team-Id", "x-acme-team-id")) {
            for (var path : List.of("/v5/things", "/things")) {
                var answer = signedIn(path, token, header, team);
                assertEquals(status, answer.status(), answer.text());
                assertEquals(code, status == 200 ? "" : answer.code());
            }
            var ofPeople = signedIn("/v5/people", token, header, team);
            assertEquals(status, ofPeople.status(), ofPeople.text());
            assertEquals(
                    status == 401 ? "MISSING_ACCOUNT_CONTEXT" : code,
                    status == 200 ? "" : ofPeople.code());
            var legacy = signedIn("/v1/things/a", token, header, team);
            assertEquals(status == 200 ? 404 : status, legacy.status(), legacy.text());
            if (status == 401) {
                assertEquals("UNAUTHORIZED_ERROR", legacy.code());
                assertEquals(code, legacy.json().requiredString("reason"));
                assertEquals("/v1/things/{thing_id}", legacy.json().requiredString("route"));
            }
        }
    }

    @Test
    void aTeamIsNamedOnceHoweverItsHeaderIsCalled() {
        var team = ApiServer.ACCOUNT.toString();
        var token = ApiServer.SIGN_IN;
        assertEquals(
                200,
                signedIn("/v5/things", token, "X-Svc-Team-Id", team, "x-acme-team-id", team)
                        .status());
        var two = signedIn("/v5/things", token, "X-Svc-Team-Id", team, "x-acme-team-id", "t1");
        assertEquals("INVALID_CLI_TEAM_HEADER", two.code());
    }

    @Test
    void aSignInTokenWithoutATeamAndAKeyWithOneAreNoCredential() {
        assertEquals("INVALID_API_KEY", signedIn("/v5/things", ApiServer.SIGN_IN).code());
        assertEquals(
                "INVALID_CLI_CREDENTIAL",
                signedIn("/v5/things", ApiServer.KEY, "X-Svc-Team-Id", "t1").code());
    }

    @Test
    void theCredentialIsCheckedBeforeTheBodyAndAfterTheRoute() {
        assertEquals(401, api.send("POST", "/v5/things", "{", "X-Nothing", "x").status());
        assertEquals(
                401, api.send("POST", "/v5/things", "x", "Content-Type", "text/plain").status());
        assertEquals(404, api.send("GET", "/v5/nothing", "", "X-Nothing", "x").status());
    }

    @Test
    void statusAndTheDescriptionNeedNoCredential() {
        var status = api.send("GET", "/status", "", "X-Nothing", "x");
        assertEquals("{\"status\":\"ok\"}", status.text());
        assertEquals("application/json", status.header("Content-Type"));
        assertEquals(
                200, api.send("GET", "/openapi.json", "", "Authorization", "Bearer no").status());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 200", "1, 200", "1.5, 200", "3600, 200", "3600.0, 200", "007, 200", "3600.1, 400",
                "3601, 400",
        "-1, 400", "+1, 400", "1e3, 400", "abc, 400", "'', 400", "1., 400", ".5, 400", "NaN, 400",
        "99999999999999999999999999999999999, 400"
    })
    void theBackgroundHeaderIsANumberOfSecondsUpToAnHour(String value, int status) {
        for (var brand : new String[] {"svc", "acme"}) {
            var answer =
                    api.send(
                            "GET",
                            "/v5/things/a",
                            "",
                            "Authorization",
                            "Bearer " + ApiServer.KEY,
                            "x-%s-background-after-secs".formatted(brand),
                            value);
            assertEquals(status, answer.status(), answer.text());
            if (status == 400) {
                assertEquals("BAD_REQUEST", answer.code());
            }
        }
    }
}
