package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.audit.AuditEntry;
import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.RequestBody;
import coppice.identity.ApiKeys;
import coppice.identity.GivenSignIns;
import coppice.identity.IdentityTokens;
import coppice.identity.PasswordHash;
import coppice.identity.Passwords;
import coppice.identity.Role;
import coppice.json.JsonWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who has signed in, calling the API with what this installation has given out.
class StoredCredentialsTest {
    @TempDir private Path directory;
    private final List<AuditEntry> audit = new ArrayList<>();
    private final AtomicReference<BooleanSupplier> still = new AtomicReference<>();
    private GivenSignIns given;
    private Api api;
    private String token;

    @BeforeEach
    void open() {
        given = new GivenSignIns(directory);
        token = given.accessToken();
        var credentials =
                new StoredCredentials(
                        new ApiKeys(given.store(), given.clock()),
                        new IdentityTokens(given.store(), given.clock()),
                        given.sessions(),
                        given.teams());
        api =
                new Api(
                        ApiSettings.at(URI.create("https://api.test")),
                        credentials,
                        List.of(Route.v5(Method.POST, "/who", "who", this::who)),
                        new Api.Lasting(Optional.empty(), Optional.empty(), audit::add, _ -> {}));
    }

    @AfterEach
    void close() {
        given.close();
    }

    private Reply who(Call call) {
        still.set(call.stillAdmitted());
        return Reply.ok(new JsonWriter().put("account", call.caller().account()));
    }

    private int call(Object team) {
        var headers =
                Headers.of("Authorization", "Bearer " + token)
                        .and("X-Svc-Team-Id", team.toString());
        var body = RequestBody.of(new byte[0]);
        return api.handle(new HttpRequest("POST", "/v5/who", Optional.empty(), headers, body))
                .status();
    }

    @Test
    void aMemberActsAsItsAccountsAndTheRecordTellsWhoItWas() {
        assertEquals(200, call(given.ada.id()));
        assertEquals(403, call(given.bob.id()));
        given.teams().join(given.user.id(), given.bob.id(), Role.MEMBER);
        assertEquals(200, call(given.bob.id()));
        assertEquals(
                List.of(given.ada.id().uuid(), given.bob.id().uuid()),
                audit.stream().map(it -> it.account().orElseThrow()).toList());
        for (var entry : audit) {
            assertEquals(Optional.of(given.user.id().uuid()), entry.user());
            assertFalse(entry.toString().contains(token), "the token shows");
            assertEquals(20, entry.credential().orElseThrow().length());
        }
    }

    @Test
    void anHourLaterTheTokenIsRefusedAndWhatItBeganGoesOn() {
        assertEquals(200, call(given.ada.id()));
        given.pass(Duration.ofHours(1));
        assertEquals(401, call(given.ada.id()));
        assertTrue(still.get().getAsBoolean());
    }

    @Test
    void whoIsRemovedFromTheTeamIsOutAtOnce() {
        assertEquals(200, call(given.ada.id()));
        given.teams().leave(given.user.id(), given.ada.id());
        assertEquals(403, call(given.ada.id()));
        assertFalse(still.get().getAsBoolean());
    }

    @Test
    void whoIsDeletedIsOutAtOnce() {
        assertEquals(200, call(given.ada.id()));
        given.users().delete(given.user.id());
        assertEquals(401, call(given.ada.id()));
        assertFalse(still.get().getAsBoolean());
    }

    @Test
    void anotherPasswordEndsWhatWasBegunThoughTheUserIsStillAMember() {
        assertEquals(200, call(given.ada.id()));
        var other = PasswordHash.of(Passwords.parse("another password"));
        given.users().setPassword(given.user.id(), other);
        assertEquals(401, call(given.ada.id()));
        assertFalse(still.get().getAsBoolean());
    }

    @Test
    void aStoreThatIsDownIsNoFaultOfTheToken() {
        assertEquals(200, call(given.ada.id()));
        given.store().close();
        assertEquals(503, call(given.ada.id()));
        assertTrue(still.get().getAsBoolean());
    }
}
