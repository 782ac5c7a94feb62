package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.Input;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who may call the operations on identities, in all families: not identities themselves, and no other account.
class IdentityRightsTest {
    private static final String IDENTITIES = "/v5/identities";

    /// What contract/auth-and-identities.md lets identities call, of what there is here.
    private static final Set<String> MEANT =
            Set.of(
                    "legacyWhoAmI",
                    "getVm",
                    "execAwait",
                    "openTerminal",
                    "attachTerminal",
                    "listTerminals",
                    "closeTerminal",
                    "legacyGetVm",
                    "legacyExecAwait",
                    "legacyListTerminals",
                    "legacyTerminalLogs",
                    "legacyTerminalOutput",
                    "legacyListServices",
                    "legacyCreateService",
                    "legacyDeleteService",
                    "legacyServiceStatus",
                    "legacyServiceLogs",
                    "legacyStartServices",
                    "legacyStopServices",
                    "legacyRestartServices");

    @TempDir private Path directory;
    private IdentityServer server;
    private ApiCaller ada;
    private String identity;
    private String tokenId;
    private String token;

    /// Ada has an identity with a token and a grant.
    @BeforeEach
    void open() {
        server = new IdentityServer(directory);
        ada = server.ada();
        identity = ada.post(IDENTITIES, "").expect(200).requiredString("id");
        var made = ada.post(own("/tokens"), "").expect(200);
        tokenId = made.requiredString("id");
        token = made.requiredString("token");
        ada.post(own("/permissions/vm"), "{\"vmId\":\"%s\"}".formatted(server.vm())).expect(200);
    }

    @AfterEach
    void close() {
        assertTrue(ada.get(own("/tokens")).text().contains(tokenId), "the token is there");
        assertTrue(ada.get(own("/permissions/vm")).text().contains(server.vm()), "the grant is");
        server.close();
    }

    private String own(String path) {
        return IDENTITIES + "/" + identity + path;
    }

    @Test
    void anIdentityMayCallNothingThatIsNotMeantForIt() {
        int tried = 0;
        for (var route : server.routes()) {
            var id = route.description().id();
            if (MEANT.contains(id) || IdentityServer.FILES.contains(id)) {
                continue;
            }
            for (var family : route.families()) {
                var path = family.prefix() + path(route.path().toString(), identity);
                ada.withToken(token).send(route.method().name(), path, "").expect(403, "FORBIDDEN");
                tried++;
            }
        }
        assertTrue(tried > 65, tried + " operations");
    }

    private String path(String template, String identity) {
        return template.replaceAll("\\{identity(_id)?\\}", identity)
                .replaceAll("\\{token(_id)?\\}", UUID.randomUUID().toString())
                .replace("{vm_id}", server.vm());
    }

    /// Ids aside, for which there stands one word.
    @Test
    void whatIsAnotherAccountsIsAnsweredAsWhatNeverWas() {
        var bob = server.bob();
        var bobs = bob.post(IDENTITIES, "").expect(200).requiredString("id");
        for (var route : server.routes()) {
            if (!route.path().toString().contains("{identity")) {
                continue;
            }
            var family = route.families().getFirst();
            var template = family.prefix() + route.path();
            var body =
                    route.description().input() instanceof Input.Json
                            ? "{\"vmId\":\"%s\",\"tokenId\":\"%s\",\"allowedLinuxUsers\":null,\"allowedUsers\":null}"
                                    .formatted(server.vm(), tokenId)
                            : "";
            var of = answered(bob, route.method().name(), template, identity, body);
            var random = UUID.randomUUID().toString();
            var none = answered(bob, route.method().name(), template, random, body);
            assertEquals(none, of, route.description().id());
            assertTrue(of.startsWith("404 "), of);
            var own = answered(bob, route.method().name(), template, bobs, body);
            assertFalse(own.contains(identity), own);
        }
    }

    private String answered(
            ApiCaller caller, String method, String template, String identity, String body) {
        var path = path(template.replaceAll("\\{token(_id)?\\}", tokenId), identity);
        var answer = caller.send(method, path, body);
        return answer.status() + " " + answer.text().replace(identity, "ID");
    }

    @Test
    void whoeverHasNoCredentialIsToldThatThereIsNoAccount() {
        for (var path : List.of(IDENTITIES, "/identities", own("/tokens"))) {
            ada.withoutCredential().get(path).expect(401, "MISSING_ACCOUNT_CONTEXT");
            ada.withToken("sit_wrong").get(path).expect(401, "MISSING_ACCOUNT_CONTEXT");
        }
        var legacy = ada.withoutCredential().get("/identity/v1/identities");
        var refused = legacy.expect(401, "UNAUTHORIZED_ERROR");
        assertEquals("/identity/v1/identities", refused.requiredString("route"));
        assertEquals("MISSING_CREDENTIALS", refused.requiredString("reason"));
    }
}
