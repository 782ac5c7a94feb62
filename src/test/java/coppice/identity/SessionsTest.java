package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Secret;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a sign-in has led to, and how it ends.
class SessionsTest {
    @TempDir private Path directory;
    private GivenSignIns given;
    private Sessions sessions;

    @BeforeEach
    void open() {
        given = new GivenSignIns(directory);
        sessions = given.sessions();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private Optional<String> refresh(String token) {
        return sessions.refresh(token).map(Secret::reveal);
    }

    private boolean isKnown(String accessToken) {
        return sessions.authenticate(accessToken).isPresent();
    }

    @Test
    void anAccessTokenIsItsUsersForAnHour() {
        var access = refresh(given.refreshToken(given.user)).orElseThrow();
        assertTrue(access.matches("sat_[a-z0-9]{20}_[A-Za-z0-9]{43}"));
        var who = sessions.authenticate(access).orElseThrow();
        assertEquals(given.user.id(), who.user());
        given.pass(Duration.ofHours(1).minusMillis(1));
        assertEquals(Optional.of(who), sessions.authenticate(access));
        given.pass(Duration.ofMillis(1));
        assertFalse(isKnown(access));
        assertTrue(sessions.isAlive(who), "what it began goes on");
    }

    @Test
    void theRefreshTokenStaysAsItIsForAllPrograms() {
        var token = given.refreshToken(given.user);
        var first = refresh(token).orElseThrow();
        var second = refresh(token).orElseThrow();
        assertTrue(isKnown(first) && isKnown(second));
        assertEquals(sessions.authenticate(first), sessions.authenticate(second));
    }

    @Test
    void aSessionEndsAfterThirtyDaysUnusedOrAYear() {
        var token = given.refreshToken(given.user);
        var who = sessions.authenticate(refresh(token).orElseThrow()).orElseThrow();
        given.pass(Sessions.UNUSED.minusMillis(1));
        assertTrue(refresh(token).isPresent());
        given.pass(Sessions.UNUSED);
        assertFalse(sessions.isAlive(who));
        assertEquals(Optional.empty(), refresh(token));

        var used = given.refreshToken(given.user);
        for (int days = 0; days < 360; days += 20) {
            given.pass(Duration.ofDays(20));
            assertTrue(refresh(used).isPresent(), days + " days");
        }
        given.pass(Duration.ofDays(5));
        assertEquals(Optional.empty(), refresh(used));
        given.refreshToken(given.user);
        assertEquals(1, given.count("sessions"), "what is over is forgotten");
    }

    @Test
    void anotherPasswordOrADeletedUserEndsAllOfItsSessionsAtOnceAndNobodyElses() {
        var eve = given.user("eve@example.org", Optional.empty());
        var ofEve = given.refreshToken(eve);
        for (Runnable end :
                List.<Runnable>of(
                        () ->
                                given.users()
                                        .setPassword(
                                                given.user.id(),
                                                PasswordHash.of(new Secret("another one"), 10)),
                        () -> given.users().delete(given.user.id()))) {
            var token = given.refreshToken(given.user);
            var access = refresh(token).orElseThrow();
            var who = sessions.authenticate(access).orElseThrow();
            end.run();
            assertFalse(isKnown(access));
            assertFalse(sessions.isAlive(who));
            assertEquals(Optional.empty(), refresh(token));
        }
        assertTrue(refresh(ofEve).isPresent());
    }

    @Test
    void whatIsMalformedOrOfAnotherKindIsNobodys() {
        var token = given.refreshToken(given.user);
        var access = refresh(token).orElseThrow();
        for (var wrong :
                List.of(
                        "",
                        "srt_",
                        access,
                        token + "x",
                        token.substring(0, 25) + "A".repeat(43),
                        "srt_" + "a".repeat(20) + token.substring(24),
                        token.toUpperCase(),
                        " " + token)) {
            assertEquals(Optional.empty(), refresh(wrong), wrong);
        }
        assertFalse(isKnown(token));
        assertFalse(isKnown(access.substring(0, 25) + "A".repeat(43)));
        assertTrue(isKnown(access));
    }

    @Test
    void ofTokensOnlyHashesAreStored() {
        var token = given.refreshToken(given.user);
        var access = refresh(token).orElseThrow();
        for (var table : List.of("sessions", "access_tokens")) {
            var rows =
                    given.store()
                            .read(
                                    handle ->
                                            handle.createQuery("select * from " + table)
                                                    .mapToMap()
                                                    .list()
                                                    .toString());
            assertFalse(rows.contains(token.substring(25)), rows);
            assertFalse(rows.contains(access.substring(25)), rows);
        }
    }

    @Test
    void aUserHasFiftySessionsOfWhichTheOneThatWasNotUsedForLongestGoes() {
        var tokens = new ArrayList<String>();
        for (int i = 0; i < 50; i++) {
            tokens.add(given.refreshToken(given.user));
            given.pass(Duration.ofSeconds(1));
        }
        assertTrue(refresh(tokens.getFirst()).isPresent(), "used just now");
        given.refreshToken(given.user);
        assertEquals(50, given.count("sessions"));
        assertTrue(refresh(tokens.getFirst()).isPresent());
        assertEquals(Optional.empty(), refresh(tokens.get(1)));
        assertTrue(refresh(tokens.get(2)).isPresent());
    }

    @Test
    void aSessionHasAThousandAccessTokensOfWhichTheOldestGoes() {
        var token = given.refreshToken(given.user);
        var first = refresh(token).orElseThrow();
        given.pass(Duration.ofMillis(1));
        given.store()
                .change(
                        handle ->
                                handle.execute(
                                        """
                                        with recursive n(i) as (select 1 union all select i + 1 from n where i < 999)
                                        insert into access_tokens select 't' || i, session_id, 'h', expires_at + 1
                                        from n join (select * from access_tokens limit 1)
                                        """));
        assertTrue(isKnown(first));
        var last = refresh(token).orElseThrow();
        assertFalse(isKnown(first));
        assertTrue(isKnown(last));
        assertEquals(1000, given.count("access_tokens"));
        given.pass(Sessions.TOKEN_LIFE);
        refresh(token);
        assertEquals(1, given.count("access_tokens"), "what has expired is forgotten");
    }
}
