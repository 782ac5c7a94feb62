package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The operations of contract/auth-and-identities.md on identities, tokens and grants, in the v5 shape.
class IdentityRoutesTest {
    private static final String IDENTITIES = "/v5/identities";
    private static final String UUID_FORM =
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

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

    private String create() {
        return ada.post(IDENTITIES, "").expect(200).requiredString("id");
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

    private JsonObject grant(String identity, String users) {
        var body = "{\"vmId\":\"%s\"%s}".formatted(server.vm(), users);
        return ada.post(grants(identity), body).expect(200);
    }

    /// A bare array of objects.
    private static List<JsonObject> items(ApiCaller.Answer answer) {
        assertEquals(200, answer.status());
        var wrapped = "{\"items\":%s}".formatted(answer.text());
        return Json.parse(wrapped.getBytes(StandardCharsets.UTF_8)).requiredObjects("items");
    }

    @Test
    void anIdentityIsShownFieldByField() {
        var created = ada.post(IDENTITIES, "").expect(200);
        assertEquals(Set.of("id", "managed"), created.fields());
        var id = created.requiredString("id");
        assertTrue(id.matches(UUID_FORM), id);
        var shown = ada.get(IDENTITIES + "/" + id);
        assertEquals(Set.of("id", "accountId", "managed"), shown.expect(200).fields());
        assertEquals(
                server.given().ada().toString(), shown.expect(200).requiredString("accountId"));
        assertFalse(shown.expect(200).requiredBool("managed"));
        assertEquals(shown.text(), ada.get("/identities/" + id).text());
        var listed = ada.get(IDENTITIES).expect(200);
        assertEquals(List.of(created), listed.requiredObjects("identities"));
        assertEquals(204, ada.delete(IDENTITIES + "/" + id).status());
        ada.get(IDENTITIES + "/" + id).expect(404, "IDENTITY_NOT_FOUND");
        ada.delete(IDENTITIES + "/" + id).expect(404, "IDENTITY_NOT_FOUND");
    }

    @Test
    void theListIsNewestFirstAndHasPages() {
        var all = new ArrayList<String>();
        var page = ada.get(IDENTITIES + "?limit=0").expect(200);
        assertEquals(0, page.requiredInteger("total"));
        IntStream.range(0, 7).forEach(_ -> all.add(create()));
        var listed = ids(IDENTITIES);
        assertEquals(Set.copyOf(all), Set.copyOf(listed));
        assertEquals(listed.subList(2, 5), ids(IDENTITIES + "?offset=2&limit=3"));
        assertEquals(List.of(), ids(IDENTITIES + "?offset=9223372036854775807"));
        assertEquals(7, ada.get(IDENTITIES + "?limit=2").expect(200).requiredInteger("total"));
    }

    private List<String> ids(String path) {
        return ada.get(path).expect(200).requiredObjects("identities").stream()
                .map(identity -> identity.requiredString("id"))
                .toList();
    }

    @Test
    void aManagedIdentityIsListedOnlyWhenAskedForAndCannotBeDeleted() {
        var managed = ada.post(IDENTITIES, "{\"managed\":true}").expect(200);
        assertTrue(managed.requiredBool("managed"));
        var other = create();
        assertEquals(List.of(other), ids(IDENTITIES));
        assertEquals(1, ada.get(IDENTITIES).expect(200).requiredInteger("total"));
        var all = ada.get(IDENTITIES + "?includeManaged=true").expect(200);
        assertEquals(2, all.requiredInteger("total"));
        assertTrue(all.requiredObjects("identities").contains(managed));
        var path = IDENTITIES + "/" + managed.requiredString("id");
        ada.delete(path).expect(400, "MANAGED_IDENTITY_DELETE");
        assertTrue(ada.get(path).expect(200).requiredBool("managed"));
        ada.get(IDENTITIES + "?includeManaged=1").expect(400, "BAD_REQUEST");
        ada.post(IDENTITIES, "{\"managed\":\"yes\"}").expect(400, "BAD_REQUEST");
    }

    @Test
    void aTokenActsAsItsIdentityUntilItIsRevoked() {
        var identity = create();
        var made = ada.post(tokens(identity), "").expect(200);
        assertEquals(Set.of("id", "token"), made.fields());
        var id = made.requiredString("id");
        var token = made.requiredString("token");
        assertTrue(token.matches("sit_%s_[A-Za-z0-9]{43}".formatted(id.replace("-", ""))), id);
        var who = ada.withToken(token).get("/auth/v1/whoami").expect(200);
        assertEquals(server.given().ada().toString(), who.requiredString("accountId"));
        assertEquals(identity, who.requiredString("identityId"));
        assertTrue(ada.get("/auth/v1/whoami").expect(200).isNull("identityId"));

        var second = ada.post(tokens(identity), "").expect(200).requiredString("token");
        assertEquals(2, items(ada.get(tokens(identity))).size());
        assertEquals(1, items(ada.get(tokens(identity) + "?limit=1")).size());
        assertEquals(204, ada.delete(tokens(identity) + "/" + id).status());
        assertIsNobody(token);
        ada.withToken(second).get("/auth/v1/whoami").expect(200);
        ada.delete(tokens(identity) + "/" + id).expect(404, "NOT_FOUND");
        assertFalse(ada.get(tokens(identity)).text().contains(second));

        ada.delete(IDENTITIES + "/" + identity);
        assertIsNobody(second);
        ada.get(tokens(identity)).expect(404, "IDENTITY_NOT_FOUND");
    }

    private void assertIsNobody(String token) {
        var answer = ada.withToken(token).get("/auth/v1/whoami").expect(401, "UNAUTHORIZED_ERROR");
        assertEquals("INVALID_IDENTITY_TOKEN", answer.requiredString("reason"));
        assertEquals("/auth/v1/whoami", answer.requiredString("route"));
        assertFalse(answer.toString().contains(token), "the token shows");
    }

    @Test
    void aTokenThatIsNearlyRightIsNobodys() {
        var token = ada.post(tokens(create()), "").expect(200).requiredString("token");
        int last = token.length() - 1;
        var other = token.charAt(last) == 'a' ? 'b' : 'a';
        assertIsNobody(token.substring(0, last) + other);
        assertIsNobody(token.substring(0, last));
        assertIsNobody(token + "a");
        assertIsNobody(token.toUpperCase(java.util.Locale.ROOT));
        assertIsNobody("sit_%s_%s".formatted("0".repeat(32), "a".repeat(43)));
        assertIsNobody("sit_");
    }

    @Test
    void theStoreHoldsNoTokenInTheClear() throws IOException {
        var token = ada.post(tokens(create()), "").expect(200).requiredString("token");
        var secret = token.substring(token.lastIndexOf('_') + 1);
        try (var files = Files.list(directory)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                var bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                assertFalse(bytes.contains(secret), file::toString);
            }
        }
    }

    @Test
    void anIdentityHasAtMostAHundredTokens() {
        var identity = create();
        IntStream.range(0, 100).forEach(_ -> ada.post(tokens(identity), "").expect(200));
        ada.post(tokens(identity), "").expect(409, "CONFLICT");
        var one = items(ada.get(tokens(identity))).getFirst().requiredString("id");
        ada.delete(tokens(identity) + "/" + one);
        ada.post(tokens(identity), "").expect(200);
    }

    @Test
    void aGrantIsShownFieldByFieldAndReplacedByTheNext() {
        var identity = create();
        var granted = grant(identity, ",\"allowedLinuxUsers\":[\"app\",\"_x-1\",\"app\"]");
        assertEquals(
                Set.of("id", "identityId", "vmId", "allowedLinuxUsers", "grantedAt", "grantedBy"),
                granted.fields());
        assertTrue(granted.requiredString("id").matches(UUID_FORM));
        assertEquals(identity, granted.requiredString("identityId"));
        assertEquals(server.vm(), granted.requiredString("vmId"));
        assertEquals(List.of("app", "_x-1"), granted.strings("allowedLinuxUsers").orElseThrow());
        assertEquals(server.given().ada().toString(), granted.requiredString("grantedBy"));
        assertEquals(List.of(granted), items(ada.get(grants(identity))));
        assertEquals(granted, ada.get(grantOnVm(identity)).expect(200));

        var again = grant(identity, "");
        assertEquals(granted.requiredString("id"), again.requiredString("id"));
        assertEquals(granted.requiredString("grantedAt"), again.requiredString("grantedAt"));
        assertTrue(again.isNull("allowedLinuxUsers"));
        var narrowed = ada.patch(grantOnVm(identity), "{\"allowedLinuxUsers\":[\"root\"]}");
        assertEquals(List.of("root"), narrowed.expect(200).strings("allowedLinuxUsers").get());
        var lifted = ada.patch(grantOnVm(identity), "{\"allowedLinuxUsers\":null}").expect(200);
        assertEquals(again, lifted);
        assertEquals(204, ada.delete(grantOnVm(identity)).status());
        for (var answer :
                List.of(
                        ada.get(grantOnVm(identity)),
                        ada.patch(grantOnVm(identity), "{}"),
                        ada.delete(grantOnVm(identity)))) {
            answer.expect(404, "VM_PERMISSION_NOT_FOUND");
        }
        assertNotEquals(granted.requiredString("id"), grant(identity, "").requiredString("id"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "[\"\"]",
                "[\"Root\"]",
                "[\"1a\"]",
                "[\"a b\"]",
                "[\"ok\",\"-a\"]",
                "[1]",
                "\"root\"",
                "{}"
            })
    void whatNamesNoUsersIsRefused(String users) {
        var identity = create();
        var body = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":%s}".formatted(server.vm(), users);
        var refused = ada.post(grants(identity), body).expect(400, "BAD_REQUEST");
        assertTrue(refused.requiredString("message").contains("allowedLinuxUsers"));
        assertEquals(List.of(), items(ada.get(grants(identity))));
        grant(identity, "");
        var change = "{\"allowedLinuxUsers\":%s}".formatted(users);
        ada.patch(grantOnVm(identity), change).expect(400, "BAD_REQUEST");
        assertTrue(ada.get(grantOnVm(identity)).expect(200).isNull("allowedLinuxUsers"));
    }

    @Test
    void aGrantNamesAtMost64UsersOfAtMost32Characters() {
        var identity = create();
        grant(identity, ",\"allowedLinuxUsers\":" + users(64, 32));
        for (var tooMuch : List.of(users(65, 32), users(1, 33))) {
            var body = "{\"allowedLinuxUsers\":%s}".formatted(tooMuch);
            ada.patch(grantOnVm(identity), body).expect(400, "BAD_REQUEST");
        }
        ada.patch(grantOnVm(identity), "{}").expect(400, "BAD_REQUEST");
    }

    private static String users(int count, int length) {
        return IntStream.range(0, count)
                .mapToObj(i -> "u%02d".formatted(i))
                .map(name -> "\"%s%s\"".formatted(name, "x".repeat(length - name.length())))
                .collect(Collectors.joining(",", "[", "]"));
    }

    @ParameterizedTest
    @CsvSource({"'{\"vmId\":\"stopped\"}', 404, NOT_FOUND", "'{}', 400, BAD_REQUEST"})
    void aGrantNamesAVmByItsId(String body, int status, String code) {
        ada.post(grants(create()), body).expect(status, code);
    }

    @Test
    void aGrantGoesWithItsVm() {
        var identity = create();
        grant(identity, "");
        server.given().vms().delete(server.given().ada(), server.vm());
        assertEquals(List.of(), items(ada.get(grants(identity))));
        ada.get(grantOnVm(identity)).expect(404, "VM_PERMISSION_NOT_FOUND");
        ada.post(grants(identity), "{\"vmId\":\"%s\"}".formatted(server.vm()))
                .expect(404, "NOT_FOUND");
    }
}
