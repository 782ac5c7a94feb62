package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Method;
import coppice.api.Output;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.audit.AuditLog;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.RequestBody;
import coppice.identity.Accounts;
import coppice.identity.ApiKeys;
import coppice.identity.Identities;
import coppice.identity.IdentityTokens;
import coppice.identity.NewToken;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.Schema;
import coppice.store.Store;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which calls are recorded, and whose they are.
class AuditTest {
    @TempDir private Path directory;

    private static Route act(Method method, String path, String id) {
        return Route.v5(
                        method,
                        path,
                        id,
                        call -> {
                            if (call.query().text("q").isPresent()) {
                                throw new Failure(Code.CONFLICT, "not now");
                            }
                            return Reply.noContent();
                        })
                .query("q", Schema.string(), "")
                .forIdentities();
    }

    private static final List<Route> ROUTES =
            List.of(
                    act(Method.POST, "/acts/{act}", "act"),
                    act(Method.GET, "/acts/{act}", "look"),
                    act(Method.GET, "/terminal", "type").returns(new Output.Upgrade()));

    private static int send(Api api, String method, String target, Headers headers) {
        var parts = target.split("\\?", 2);
        return api.handle(
                        new HttpRequest(
                                method,
                                parts[0],
                                parts.length == 1 ? Optional.empty() : Optional.of(parts[1]),
                                headers,
                                RequestBody.of(new byte[0])))
                .status();
    }

    @Test
    void eachCallThatMayChangeSomethingIsRecordedWithWhoMadeItAndNoSecret() {
        var clock = Clock.systemUTC();
        try (var store = Store.open(directory.resolve("coppice.db"));
                var log = AuditLog.usual(directory.resolve("audit"))) {
            var account = new Accounts(store, clock).create(new Slug("ada"), "Ada").id();
            var key = new ApiKeys(store, clock).create(account, "key").bearer().reveal();
            var identity = new Identities(store, clock).create(account, false).id();
            var token = new IdentityTokens(store, clock).create(account, identity.toString());
            var api =
                    new Api(
                            ApiSettings.at(URI.create("https://api.test")),
                            StoredCredentials.of(store),
                            ROUTES,
                            new Api.Lasting(
                                    Optional.empty(), Optional.empty(), log::write, _ -> {}));
            var asAda = Headers.of("Authorization", "Bearer " + key);
            var asIdentity = Headers.of("x-svc-identity-access-token", token.token().reveal());
            assertEquals(204, send(api, "POST", "/v5/acts/one", asAda));
            assertEquals(409, send(api, "POST", "/acts/two?q=secret", asIdentity));
            assertEquals(204, send(api, "GET", "/v5/acts/one", asAda));
            assertEquals(401, send(api, "POST", "/v5/acts/three", Headers.none()));
            assertEquals(426, send(api, "GET", "/v5/terminal", asAda));

            requireMadeBy(account.toString(), identity.toString(), key, token);
        }
    }

    private void requireMadeBy(String account, String identity, String key, NewToken token) {
        var lines = AuditLog.last(directory.resolve("audit"), 10, AuditLog.of(Optional.empty()));
        var made = lines.stream().map(AuditTest::parse).toList();
        assertEquals(
                List.of("act 204", "actUnversioned 409", "type 426"),
                made.stream()
                        .map(
                                it ->
                                        it.requiredString("operation")
                                                + " "
                                                + it.requiredInteger("status"))
                        .toList());
        assertEquals(Optional.of(key.substring(0, 20)), made.getFirst().string("credential"));
        assertEquals(Optional.empty(), made.getFirst().string("identity"));
        var second = made.get(1);
        assertEquals(Optional.of(identity), second.string("identity"));
        assertEquals(
                Optional.of(token.id().toString().replace("-", "")), second.string("credential"));
        assertEquals("/acts/two", second.requiredString("path"));
        for (var line : lines) {
            assertEquals(account, parse(line).requiredString("account"));
            assertFalse(line.contains(key.substring(21)) || line.contains("secret"), line);
            assertFalse(line.contains(token.token().reveal()), line);
        }
    }

    private static JsonObject parse(String line) {
        return Json.parse(line.getBytes(StandardCharsets.UTF_8));
    }
}
