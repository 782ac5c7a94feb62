package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.SignIns.Codes;
import coppice.identity.SignIns.Polled;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The life of a sign-in until it is a session.
class SignInsTest {
    private static final Optional<Source> HERE = Optional.of(new Source("203.0.113.7"));

    @TempDir private Path directory;
    private GivenSignIns given;
    private SignIns signIns;

    @BeforeEach
    void open() {
        given = new GivenSignIns(directory);
        signIns = given.signIns();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private Codes begin(Duration life) {
        return signIns.begin(life, HERE);
    }

    private Polled poll(Codes codes) {
        return signIns.poll(codes.polling().reveal());
    }

    private void confirm(Codes codes) {
        signIns.confirm(codes.login().reveal(), given.user.id());
    }

    private boolean isWaiting(Codes codes) {
        return signIns.waiting(codes.login().reveal()).isPresent();
    }

    @Test
    void itIsPendingUntilSomebodyConfirmsItAndThenGivesOneSession() {
        var codes = begin(SignIns.USUAL_LIFE);
        assertInstanceOf(Polled.Pending.class, poll(codes));
        var waiting = signIns.waiting(codes.login().reveal()).orElseThrow();
        assertEquals(new SignIns.Waiting(given.clock().instant(), HERE), waiting);
        confirm(codes);
        assertFalse(isWaiting(codes), "nobody can confirm it again");
        var done = assertInstanceOf(Polled.Done.class, poll(codes));
        assertTrue(done.refreshToken().reveal().matches("srt_[a-z0-9]{20}_[A-Za-z0-9]{43}"));
        assertFalse(done.toString().contains("srt_"), "the token shows");
        assertInstanceOf(Polled.Gone.class, poll(codes));
        assertEquals(1, given.count("sessions"));
        assertEquals(0, given.count("sign_ins"));
    }

    @Test
    void nobodyTakesOverWhatSomebodyElseHasConfirmed() {
        var codes = begin(SignIns.USUAL_LIFE);
        var eve = given.user("eve@example.org", Optional.empty());
        confirm(codes);
        var refused =
                assertThrows(
                        Failure.class, () -> signIns.confirm(codes.login().reveal(), eve.id()));
        assertEquals(Code.NOT_FOUND, refused.code());
        var done = assertInstanceOf(Polled.Done.class, poll(codes));
        var token = given.sessions().refresh(done.refreshToken().reveal()).orElseThrow();
        assertEquals(
                given.user.id(),
                given.sessions().authenticate(token.reveal()).orElseThrow().user());
    }

    @Test
    void theLoginCodeDoesNotPollAndThePollingCodeDoesNotConfirm() {
        var codes = begin(SignIns.USUAL_LIFE);
        assertInstanceOf(Polled.Gone.class, signIns.poll(codes.login().reveal()));
        assertEquals(Optional.empty(), signIns.waiting(codes.polling().reveal()));
        assertThrows(
                Failure.class, () -> signIns.confirm(codes.polling().reveal(), given.user.id()));
    }

    @Test
    void itIsOverInItsTimeConfirmedOrNot() {
        var waiting = begin(Duration.ofSeconds(90));
        var confirmed = begin(Duration.ofSeconds(90));
        confirm(confirmed);
        given.pass(Duration.ofMillis(89_999));
        assertTrue(isWaiting(waiting));
        given.pass(Duration.ofMillis(1));
        assertFalse(isWaiting(waiting));
        assertThrows(Failure.class, () -> confirm(waiting));
        for (var codes : List.of(waiting, confirmed)) {
            assertInstanceOf(Polled.Gone.class, poll(codes));
        }
        assertEquals(0, given.count("sessions"));
        begin(SignIns.USUAL_LIFE);
        assertEquals(1, given.count("sign_ins"), "the old ones are forgotten");
    }

    @Test
    void noneLastsLongerThanAnHour() {
        var codes = begin(Duration.ofMillis(Long.MAX_VALUE));
        given.pass(Duration.ofMinutes(60).minusMillis(1));
        assertInstanceOf(Polled.Pending.class, poll(codes));
        given.pass(Duration.ofMillis(1));
        assertInstanceOf(Polled.Gone.class, poll(codes));
    }

    @Test
    void codesThatNobodyWasGivenFindNothing() {
        begin(SignIns.USUAL_LIFE);
        for (var code : List.of("", "x", "é".repeat(43), "' or 1=1 --", "A".repeat(100_000))) {
            assertInstanceOf(Polled.Gone.class, signIns.poll(code));
            assertEquals(Optional.empty(), signIns.waiting(code));
            assertThrows(Failure.class, () -> signIns.confirm(code, given.user.id()));
        }
    }

    @Test
    void ofTheCodesOnlyHashesAreStored() {
        var codes = begin(SignIns.USUAL_LIFE);
        var row =
                given.store()
                        .read(
                                handle ->
                                        handle.createQuery("select * from sign_ins")
                                                .mapToMap()
                                                .one()
                                                .toString());
        assertFalse(row.contains(codes.polling().reveal()), row);
        assertFalse(row.contains(codes.login().reveal()), row);
        assertFalse(codes.toString().contains(codes.polling().reveal()), "it shows");
    }

    @Test
    void twentyFromOneAddressAndAThousandInAllAreUnderWayAtOnce() {
        for (int i = 0; i < 20; i++) {
            begin(SignIns.USUAL_LIFE);
        }
        var full = assertThrows(Failure.class, () -> begin(SignIns.USUAL_LIFE));
        assertEquals(Code.RATE_LIMITED, full.code());
        given.store()
                .change(
                        handle ->
                                handle.execute(
                                        """
                                        with recursive n(i) as (select 1 union all select i + 1 from n where i < 979)
                                        insert into sign_ins select 'p' || i, 'l' || i, null, null, created_at, expires_at
                                        from n join (select * from sign_ins limit 1)
                                        """));
        signIns.begin(SignIns.USUAL_LIFE, Optional.empty());
        var all =
                assertThrows(
                        Failure.class, () -> signIns.begin(SignIns.USUAL_LIFE, Optional.empty()));
        assertEquals(Code.UNAVAILABLE, all.code());
        given.pass(SignIns.USUAL_LIFE);
        begin(SignIns.USUAL_LIFE);
    }

    @Test
    void manyPollsAtOnceGetOneSession() throws Exception {
        var codes = begin(SignIns.USUAL_LIFE);
        confirm(codes);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<Polled> one = () -> poll(codes);
            long done = 0;
            for (var polled : threads.invokeAll(List.of(one, one, one, one, one, one))) {
                done += polled.get() instanceof Polled.Done ? 1 : 0;
            }
            assertEquals(1, done);
        }
        assertEquals(1, given.count("sessions"));
    }

    @Test
    void whoIsDeletedSignsInNowhere() {
        var confirmed = begin(SignIns.USUAL_LIFE);
        confirm(confirmed);
        var waiting = begin(SignIns.USUAL_LIFE);
        given.users().delete(given.user.id());
        assertInstanceOf(Polled.Gone.class, poll(confirmed));
        var refused = assertThrows(Failure.class, () -> confirm(waiting));
        assertEquals(Code.NOT_FOUND, refused.code());
    }
}
