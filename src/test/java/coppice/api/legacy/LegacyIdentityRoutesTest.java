package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.v5.IdentityServer;
import coppice.json.JsonObject;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The legacy operations of contract/auth-and-identities.md.
class LegacyIdentityRoutesTest {
    private static final String IDENTITIES = "/identity/v1/identities";

    @TempDir private Path directory;
    private IdentityServer server;
    private ApiCaller ada;

    @BeforeEach
    void open() {
        server = new IdentityServer(directory);
        ada = server.ada();
    }

    @AfterEach
    void close() {
        server.close();
    }

    private String create(String body) {
        return ada.post(IDENTITIES, body).expect(200).requiredString("id");
    }

    private static String tokens(String identity) {
        return "%s/%s/tokens".formatted(IDENTITIES, identity);
    }

    private static String grants(String identity) {
        return "%s/%s/permissions/vm".formatted(IDENTITIES, identity);
    }

    private String grantOnVm(String identity) {
        return grants(identity) + "/" + server.vm();
    }

    @Test
    void whatIsMadeInOneFamilyIsSeenInTheOther() {
        var old = create("{}");
        var other = ada.post("/v5/identities", "{}").expect(200).requiredString("id");
        var listed = ada.get(IDENTITIES + "?limit=1&offset=1").expect(200);
        assertEquals(Set.of("identities", "offset", "total"), listed.fields());
        assertEquals(1, listed.requiredInteger("offset"));
        assertEquals(2, listed.requiredInteger("total"));
        assertEquals(1, listed.requiredObjects("identities").size());
        for (var id : List.of(old, other)) {
            ada.get("/v5/identities/" + id).expect(200);
            var gone = ada.delete(IDENTITIES + "/" + id);
            assertEquals("{}", gone.text());
            ada.delete(IDENTITIES + "/" + id).expect(404, "IDENTITY_NOT_FOUND");
        }
    }

    @Test
    void tokensAreListedWithinAnObject() {
        var identity = create("");
        var made = ada.post(tokens(identity), "").expect(200);
        assertEquals(Set.of("id", "token"), made.fields());
        var listed = ada.get(tokens(identity)).expect(200);
        assertEquals(
                List.of(made.requiredString("id")),
                listed.requiredObjects("tokens").stream()
                        .map(token -> token.requiredString("id"))
                        .toList());
        ada.withToken(made.requiredString("token")).get("/auth/v1/whoami").expect(200);
        var path = tokens(identity) + "/" + made.requiredString("id");
        assertEquals("{}", ada.delete(path).text());
        ada.delete(path).expect(404, "NOT_FOUND");
        ada.withToken(made.requiredString("token")).get("/auth/v1/whoami").expect(401);
    }

    @Test
    void theOldestPathsShowTheSame() {
        var oldest = "/git/v1/identity";
        var made = ada.post(oldest, "").expect(200);
        assertEquals(Set.of("id", "managed"), made.fields());
        var id = made.requiredString("id");
        ada.get("/v5/identities/" + id).expect(200);
        var managed = create("{\"managed\":true}");
        assertEquals(1, ada.get(oldest).expect(200).requiredInteger("total"));
        var all = ada.get(oldest + "?includeManaged=true&limit=1&offset=1").expect(200);
        assertEquals(
                ada.get(IDENTITIES + "?includeManaged=true&limit=1&offset=1").expect(200), all);
        ada.delete(oldest + "/" + managed).expect(403, "CANNOT_DELETE_MANAGED_IDENTITY");

        var path = oldest + "/" + id + "/tokens";
        var first = ada.post(path, "").expect(200).requiredString("id");
        var second = ada.post(path, "").expect(200).requiredString("id");
        assertEquals(ada.get(tokens(id)).expect(200), ada.get(path).expect(200));
        assertEquals("{}", ada.delete(path + "/" + first).text());
        assertEquals(
                "{}", ada.send("DELETE", path, "{\"tokenId\":\"%s\"}".formatted(second)).text());
        ada.send("DELETE", path, "{}").expect(400, "BAD_REQUEST");
        assertEquals(List.of(), ada.get(path).expect(200).requiredObjects("tokens"));
        ada.post(oldest + "/" + managed + "/tokens", "")
                .expect(403, "CANNOT_MODIFY_MANAGED_IDENTITY");

        assertEquals("{}", ada.delete(oldest + "/" + id).text());
        ada.get(path).expect(404, "IDENTITY_NOT_FOUND");
    }

    @Test
    void aSecondGrantOnAVmIsRefusedAndTheFirstCanBeChanged() {
        var identity = create("");
        var granted = ada.post(grantOnVm(identity), "{\"allowedUsers\":[\"app\"]}").expect(200);
        assertEquals(
                Set.of("id", "identityId", "vmId", "allowedUsers", "grantedAt", "grantedBy"),
                granted.fields());
        assertEquals(List.of("app"), granted.strings("allowedUsers").orElseThrow());
        ada.post(grantOnVm(identity), "{}").expect(409, "PERMISSION_ALREADY_EXISTS");
        assertEquals(granted, ada.get(grantOnVm(identity)).expect(200));
        ada.send("PUT", grantOnVm(identity), "{}").expect(400, "BAD_REQUEST");
        var lifted = ada.send("PUT", grantOnVm(identity), "{\"allowedUsers\":null}").expect(200);
        assertTrue(lifted.isNull("allowedUsers"));
        assertEquals(granted.requiredString("id"), lifted.requiredString("id"));
        var listed = ada.get(grants(identity) + "?offset=1").expect(200);
        assertEquals(Set.of("permissions", "offset", "total"), listed.fields());
        assertEquals(List.of(), listed.requiredObjects("permissions"));
        assertEquals(1, listed.requiredInteger("total"));
        var v5 = "/v5/identities/%s/permissions/vm/%s".formatted(identity, server.vm());
        assertEquals(lifted.requiredString("id"), ada.get(v5).expect(200).requiredString("id"));
        assertEquals("{}", ada.delete(grantOnVm(identity)).text());
        for (var method : List.of("GET", "PUT", "DELETE")) {
            ada.send(method, grantOnVm(identity), "").expect(404, "VM_PERMISSION_NOT_FOUND");
        }
    }

    @Test
    void aVmIsNamedByItsIdOrByTheCharactersOfIt() {
        var identity = create("");
        ada.post(grants(identity) + "/stopped", "{}").expect(404, "NOT_FOUND");
        ada.post(grants(identity) + "/vm-" + "0".repeat(20), "{}").expect(404, "NOT_FOUND");
        var bare = grants(identity) + "/" + server.vm().substring("vm-".length());
        assertEquals(server.vm(), ada.post(bare, "").expect(200).requiredString("vmId"));
        assertEquals(server.vm(), ada.get(bare).expect(200).requiredString("vmId"));
        assertEquals("{}", ada.delete(bare).text());
    }

    @Test
    void aManagedIdentityCannotBeChangedHere() {
        var managed = create("{\"managed\":true}");
        var path = IDENTITIES + "/" + managed;
        ada.delete(path).expect(403, "CANNOT_DELETE_MANAGED_IDENTITY");
        var v5 = "/v5/identities/" + managed;
        var token = ada.post(v5 + "/tokens", "").expect(200).requiredString("id");
        ada.post(v5 + "/permissions/vm", "{\"vmId\":\"%s\"}".formatted(server.vm())).expect(200);
        for (var refused :
                List.of(
                        ada.post(tokens(managed), ""),
                        ada.delete(tokens(managed) + "/" + token),
                        ada.post(grantOnVm(managed), "{}"),
                        ada.send("PUT", grantOnVm(managed), "{\"allowedUsers\":null}"),
                        ada.delete(grantOnVm(managed)))) {
            refused.expect(403, "CANNOT_MODIFY_MANAGED_IDENTITY");
        }
        assertEquals(1, objects(tokens(managed), "tokens").size());
        assertEquals(1, objects(grants(managed), "permissions").size());
        assertEquals(List.of(), objects(IDENTITIES, "identities"));
        assertEquals(1, objects(IDENTITIES + "?includeManaged=true", "identities").size());
    }

    private List<JsonObject> objects(String path, String field) {
        return ada.get(path).expect(200).requiredObjects(field);
    }

    @Test
    void anIdentityHasAtMostAHundredTokensHereToo() {
        var identity = create("");
        IntStream.range(0, 100).forEach(_ -> ada.post(tokens(identity), "").expect(200));
        ada.post(tokens(identity), "").expect(409, "CONFLICT");
    }

    @Test
    void theOperationsAreDescribed() {
        var result = new OpenAPIV3Parser().readContents(ada.get("/openapi.json").text());
        assertEquals(List.of(), result.getMessages());
        var paths = result.getOpenAPI().getPaths();
        for (var route : server.routes()) {
            for (var family : route.families()) {
                var path = family.prefix() + route.path();
                assertTrue(paths.containsKey(path), path);
            }
        }
        var refused = paths.get("/v5/identities").getGet().getResponses().get("401");
        assertTrue(refused.getDescription().contains("MISSING_ACCOUNT_CONTEXT"));
        var who = paths.get("/auth/v1/whoami").getGet().getResponses();
        assertTrue(who.get("401").getDescription().contains("UNAUTHORIZED_ERROR"));
        var forbidden = who.get("403").getDescription();
        assertTrue(forbidden.contains("CLI_TEAM_ACCESS_DENIED"), forbidden);
        assertTrue(!forbidden.contains("`FORBIDDEN`"), "identities may call it");
    }
}
