package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.http.Headers;
import coppice.identity.SignedIn;
import coppice.identity.UserId;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// Whether somebody who has signed in is still let in, as it is asked while something lasts.
class GateTest {
    private static final UUID TEAM = UUID.randomUUID();
    private static final SignedIn WHO = new SignedIn(new UserId(UUID.randomUUID()), "session");
    private static final Headers HEADERS =
            Headers.of("Authorization", "Bearer token").and("X-Svc-Team-Id", TEAM.toString());
    private static final Served SERVED =
            Served.of(
                    Route.v5(Method.GET, "/things", "listThings", _ -> Reply.noContent()),
                    Family.V5);

    private final Known known = new Known();
    private final Gate gate = new Gate(known, new BrandedHeader("svc"));

    private static final class Known implements Credentials {
        private boolean isExpired;
        private boolean isMember = true;
        private boolean isDown;

        @Override
        public Caller resolve(Secret apiKey) {
            throw new Failure(Code.INVALID_API_KEY, "it is none");
        }

        @Override
        public SignedIn signedIn(Secret accessToken) {
            if (isExpired) {
                throw Credentials.notSignedIn();
            }
            return WHO;
        }

        @Override
        public Caller member(SignedIn who, String team) {
            return Caller.signedIn(UUID.fromString(team), who);
        }

        @Override
        public boolean isStillMember(Caller caller) {
            if (isDown) {
                throw new Failure(Code.UNAVAILABLE, "the store is down");
            }
            return isMember && caller.equals(Caller.signedIn(TEAM, WHO));
        }
    }

    @Test
    void aTokenThatExpiresTakesNothingAwayWhileTheSignInLasts() {
        var caller = gate.admit(SERVED, HEADERS);
        known.isExpired = true;
        var refused = assertThrows(Failure.class, () -> gate.admit(SERVED, HEADERS));
        assertEquals(Code.INVALID_CLI_CREDENTIAL, refused.code());
        assertTrue(gate.stillAdmits(SERVED, HEADERS, caller));
    }

    @Test
    void whoIsNoMemberAnyMoreOrHasNoSessionIsOut() {
        var caller = gate.admit(SERVED, HEADERS);
        known.isMember = false;
        assertFalse(gate.stillAdmits(SERVED, HEADERS, caller));
    }

    @Test
    void aStoreThatIsDownTakesNothingAway() {
        var caller = gate.admit(SERVED, HEADERS);
        known.isMember = false;
        known.isDown = true;
        assertTrue(gate.stillAdmits(SERVED, HEADERS, caller));
    }

    @Test
    void theCallerIsTheAccountAndNamesWhoActsAsIt() {
        var caller = gate.admit(SERVED, HEADERS);
        assertEquals(TEAM, caller.account());
        assertEquals(Optional.empty(), caller.identity());
        assertEquals(Optional.of("session"), caller.credential());
        assertEquals(Optional.of(WHO), caller.signedIn());
    }
}
