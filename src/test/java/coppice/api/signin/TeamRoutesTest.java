package coppice.api.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.http.Headers;
import coppice.identity.ApiKeyId;
import coppice.identity.Role;
import coppice.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TeamRoutesTest {
    private static final String TEAMS = "/api/cli/teams";

    @TempDir private Path directory;
    private SignInServer server;
    private String ada;
    private String token;

    @BeforeEach
    void open() {
        server = new SignInServer(directory);
        ada = server.given.ada.id().toString();
        token = server.given.accessToken();
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static Headers bearer(String token) {
        return Headers.of("Authorization", "Bearer " + token);
    }

    private static Headers auth(String token) {
        return Headers.of("x-stack-auth", "{\"accessToken\":\"%s\"}".formatted(token));
    }

    private static String keysOf(String account) {
        return "/api/accounts/%s/tokens".formatted(account);
    }

    private SignInServer.Answer teams() {
        return server.send("GET", TEAMS, bearer(token), "");
    }

    private SignInServer.Answer create(String account, String body) {
        return server.send("POST", keysOf(account), auth(token), body);
    }

    private SignInServer.Answer list(String account) {
        return server.send("GET", keysOf(account), auth(token), "");
    }

    private SignInServer.Answer revoke(String account, String key) {
        return server.send("DELETE", keysOf(account) + "/" + key, auth(token), "");
    }

    @Test
    void whoIsSignedInIsToldOfItselfAndItsTeams() {
        assertEquals(
                """
                {"user":{"id":"%s","email":"ada@example.org","displayName":"Ada"},"defaultTeamId":"%s",\
                "teams":[{"teamId":"%s","accountId":"%s","name":"Ada's account","role":"owner"}]}"""
                        .formatted(server.given.user.id(), ada, ada, ada),
                teams().text());
    }

    @Test
    void amongSeveralTeamsAndWithoutOneThereIsNoDefault() {
        server.given.teams().join(server.given.user.id(), server.given.bob.id(), Role.MEMBER);
        var two = teams().expect(200);
        assertTrue(two.isNull("defaultTeamId"));
        assertEquals(
                List.of("Ada's account owner", "Bob's account member"),
                two.requiredObjects("teams").stream()
                        .map(it -> it.requiredString("name") + " " + it.requiredString("role"))
                        .toList());
        var eve = server.given.user("eve@example.org", Optional.empty());
        token =
                server.given
                        .sessions()
                        .refresh(server.given.refreshToken(eve))
                        .orElseThrow()
                        .reveal();
        var none = teams().expect(200);
        assertTrue(none.isNull("defaultTeamId"));
        assertTrue(none.requiredObject("user").isNull("displayName"));
        assertEquals(List.of(), none.requiredObjects("teams"));
    }

    @Test
    void aKeyIsMadeListedAndRevokedByAMember() {
        var made = create(ada, "{\"name\":\"laptop\"}").expect(200);
        assertEquals(
                Set.of("token", "accountId", "accountName", "teamId", "teamName"), made.fields());
        assertEquals(ada, made.requiredString("accountId"));
        assertEquals(ada, made.requiredString("teamId"));
        assertEquals("Ada's account", made.requiredString("teamName"));
        var key = made.requiredString("token");
        assertTrue(server.given.keys().authenticate(key).isPresent());
        var id = key.substring(0, key.indexOf('-'));
        assertEquals(
                "{\"tokens\":[{\"keyId\":\"%s\",\"name\":\"laptop\",\"createdAt\":1772357400000}]}"
                        .formatted(id),
                list(ada).text());
        assertEquals(
                Optional.of(server.given.user.id()),
                server.given.keys().list(server.given.ada.id()).getFirst().maker());
        revoke(ada, id).expect(204);
        assertTrue(server.given.keys().authenticate(key).isEmpty());
        assertEquals("{\"tokens\":[]}", list(ada).text());
    }

    @Test
    void theRecordTellsWhoMadeAndRevokedAKeyAndNoSecret() {
        var key = create(ada, "{\"name\":\"laptop\"}").expect(200).requiredString("token");
        revoke(ada, key.substring(0, 20)).expect(204);
        list(ada);
        assertEquals(
                List.of("createApiKey", "revokeApiKey"),
                server.audit.stream().map(it -> it.operation()).toList());
        for (var entry : server.audit) {
            assertEquals(Optional.of(server.given.user.id().uuid()), entry.user());
            assertEquals(Optional.of(UUID.fromString(ada)), entry.account());
            assertEquals(20, entry.credential().orElseThrow().length());
            assertFalse(entry.toString().contains(key.substring(21)), "the key shows");
            assertFalse(entry.toString().contains(token), "the token shows");
        }
        assertTrue(server.audit.getLast().path().endsWith(key.substring(0, 20)));
    }

    @Test
    void anAccountThatOneIsNotInIsAsAbsentAsOneThatNeverWas() {
        var bobs = server.given.bob.id().toString();
        var key = server.given.keys().create(server.given.bob.id(), "his").key().id().text();
        var never = UUID.randomUUID().toString();
        for (var account : List.of(bobs, never, "ada", "%2e%2e", "a".repeat(3000))) {
            assertEquals(
                    create(never, "{\"name\":\"x\"}").text(),
                    create(account, "{\"name\":\"x\"}").text());
            list(account).expect(404, "NOT_FOUND");
            revoke(account, key).expect(404, "NOT_FOUND");
        }
        revoke(ada, key).expect(404, "NOT_FOUND");
        revoke(ada, "%2e%2e").expect(404, "NOT_FOUND");
        assertEquals(1, server.given.keys().list(server.given.bob.id()).size());
        assertTrue(
                server.given.keys().list(server.given.bob.id()).getFirst().revokedAt().isEmpty());
        assertEquals(ApiKeyId.find("../x"), Optional.empty());
    }

    @Test
    void whoIsRemovedFromATeamIsOutAtOnce() {
        list(ada).expect(200);
        server.given.teams().leave(server.given.user.id(), server.given.ada.id());
        list(ada).expect(404, "NOT_FOUND");
        assertEquals(List.of(), teams().expect(200).requiredObjects("teams"));
    }

    @Test
    void onlyALivingAccessTokenIsACredentialHere() {
        var key = server.given.keys().create(server.given.ada.id(), "key").bearer().reveal();
        for (var wrong : List.of("x", key, server.given.refreshToken(server.given.user))) {
            server.send("GET", TEAMS, bearer(wrong), "").expect(401, "INVALID_CLI_CREDENTIAL");
            server.send("GET", keysOf(ada), auth(wrong), "").expect(401, "INVALID_CLI_CREDENTIAL");
        }
        for (var header : List.of("{", "[]", "{\"accessToken\":7}", "{}", token, "\u0001")) {
            server.send("GET", keysOf(ada), Headers.of("x-stack-auth", header), "")
                    .expect(401, "INVALID_CLI_CREDENTIAL");
        }
        server.get(TEAMS).expect(401, "MISSING_CREDENTIALS");
        server.send("GET", TEAMS, auth(token), "").expect(401, "MISSING_CREDENTIALS");
        server.send("GET", keysOf(ada), bearer(token), "").expect(401, "MISSING_CREDENTIALS");
        server.given.pass(Duration.ofHours(1));
        teams().expect(401, "INVALID_CLI_CREDENTIAL");
        create(ada, "{\"name\":\"x\"}").expect(401, "INVALID_CLI_CREDENTIAL");
    }

    @Test
    void aKeyNeedsAName() {
        for (var body :
                List.of("{}", "{\"name\":\"\"}", "{\"name\":7}", "{\"name\":\"\\u0007\"}")) {
            create(ada, body).expect(400, "BAD_REQUEST");
        }
        assertEquals(List.of(), keys());
    }

    private List<JsonObject> keys() {
        return list(ada).expect(200).requiredObjects("tokens");
    }

    @Test
    void anAccountHasAHundredKeys() {
        for (int i = 0; i < 100; i++) {
            create(ada, "{\"name\":\"key %d\"}".formatted(i)).expect(200);
        }
        create(ada, "{\"name\":\"one more\"}").expect(409, "CONFLICT");
        assertEquals(100, keys().size());
    }

    @Test
    void thatNobodyCanTellWhoseATokenIsHasItsOwnName() {
        server.given.store().close();
        teams().expect(503, "KEY_RESOLVER_UNAVAILABLE");
        list(ada).expect(503, "KEY_RESOLVER_UNAVAILABLE");
    }
}
