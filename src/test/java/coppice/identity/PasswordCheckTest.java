package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PasswordCheckTest {
    private static final Email ADA = Email.parse("email", "ada@example.org");
    private static final Email NOBODY = Email.parse("email", "nobody@example.org");
    private static final Optional<Source> NOWHERE = Optional.empty();

    @TempDir private Path directory;
    private GivenSignIns given;

    @BeforeEach
    void open() {
        given = new GivenSignIns(directory);
    }

    @AfterEach
    void close() {
        given.close();
    }

    private User right(Email email, Optional<Source> source) {
        return given.check().require(email, new Secret(GivenSignIns.PASSWORD), source);
    }

    private Failure wrong(Email email, Optional<Source> source) {
        return assertThrows(
                Failure.class,
                () -> given.check().require(email, new Secret("something else"), source));
    }

    @Test
    void theRightPasswordTellsTheUserWhateverTheCaseOfItsAddress() {
        assertEquals(given.user, right(ADA, NOWHERE));
        assertEquals(given.user, right(Email.parse("email", " Ada@Example.ORG"), NOWHERE));
    }

    @Test
    void aWrongPasswordAndAnUnknownUserAreRefusedInTheSameWords() {
        var wrong = wrong(ADA, NOWHERE);
        var unknown = wrong(NOBODY, NOWHERE);
        assertEquals(Code.ACCESS_DENIED, wrong.code());
        assertEquals(wrong.code(), unknown.code());
        assertEquals(wrong.getMessage(), unknown.getMessage());
    }

    @Test
    void whoeverGuessesWaitsLongerEachTimeAndAnUnknownUserAsLong() {
        for (var email : List.of(ADA, NOBODY)) {
            var waits = new ArrayList<Long>();
            for (int i = 0; i < 17; i++) {
                var refused = wrong(email, NOWHERE);
                if (refused.code() == Code.RATE_LIMITED) {
                    var wait = refused.retryAfter().orElseThrow();
                    waits.add(wait.toSeconds());
                    given.pass(wait.minusMillis(1));
                    assertEquals(Code.RATE_LIMITED, wrong(email, NOWHERE).code());
                    given.pass(Duration.ofMillis(1));
                    assertEquals(Code.ACCESS_DENIED, wrong(email, NOWHERE).code());
                }
            }
            assertEquals(
                    List.of(1L, 2L, 4L, 8L, 16L, 32L, 64L, 128L, 256L, 300L, 300L, 300L),
                    waits,
                    email.text());
        }
    }

    @Test
    void theRightPasswordMustWaitTooAndThenEndsTheWaiting() {
        for (int i = 0; i < 6; i++) {
            wrong(ADA, NOWHERE);
        }
        var early = assertThrows(Failure.class, () -> right(ADA, NOWHERE));
        assertEquals(Code.RATE_LIMITED, early.code());
        given.pass(early.retryAfter().orElseThrow());
        right(ADA, NOWHERE);
        for (int i = 0; i < 5; i++) {
            assertEquals(Code.ACCESS_DENIED, wrong(ADA, NOWHERE).code());
        }
    }

    @Test
    void whatIsAnHourOldIsForgotten() {
        for (int i = 0; i < 6; i++) {
            wrong(ADA, NOWHERE);
        }
        given.pass(Duration.ofHours(1));
        for (int i = 0; i < 5; i++) {
            assertEquals(Code.ACCESS_DENIED, wrong(ADA, NOWHERE).code());
        }
    }

    @Test
    void oneAddressCannotGuessForEverybodyAndOthersDoNotNotice() throws Exception {
        var bad = Source.of(InetAddress.ofLiteral("203.0.113.7"));
        for (int i = 0; i < 20; i++) {
            var email = Email.parse("email", "user%d@example.org".formatted(i));
            assertEquals(Code.ACCESS_DENIED, wrong(email, bad).code());
        }
        assertEquals(Code.RATE_LIMITED, wrong(NOBODY, bad).code());
        assertEquals(Code.RATE_LIMITED, assertThrows(Failure.class, () -> right(ADA, bad)).code());
        assertEquals(given.user, right(ADA, Source.of(InetAddress.ofLiteral("203.0.113.8"))));
    }

    @Test
    void anAttemptAtWhichNobodyLookedDoesNotCount() {
        var here = Source.of(InetAddress.ofLiteral("203.0.113.7"));
        given.store().close();
        for (int i = 0; i < 30; i++) {
            assertEquals(
                    Code.UNAVAILABLE, assertThrows(Failure.class, () -> right(ADA, here)).code());
        }
    }

    @Test
    void aSourceIsAnAddressOrANetworkOfIpv6AndNotThisMachine() {
        assertEquals("203.0.113.7", source("203.0.113.7"));
        assertEquals("2001:db8:1:2:0:0:0:0/64", source("2001:db8:1:2:3:4:5:6"));
        assertEquals(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff::"));
        assertEquals("none", source("127.0.0.1"));
        assertEquals("none", source("::1"));
    }

    private static String source(String address) {
        return Source.of(InetAddress.ofLiteral(address)).map(Source::text).orElse("none");
    }

    @Test
    void onlyTenThousandWhoGuessAreRememberedAndThoseThatTriedLastAre() {
        var guesses = new Guesses(1, given.clock());
        guesses.take("first");
        for (int i = 0; i < 9999; i++) {
            guesses.take("guesser " + i);
        }
        assertThrows(Failure.class, () -> guesses.take("first"));
        guesses.take("one more");
        guesses.take("first");
        assertThrows(Failure.class, () -> guesses.take("guesser 9998"));
    }

    @Test
    void aHostileTextIsNoEmailAddress() {
        for (var text :
                List.of(
                        "",
                        "ada",
                        "@example.org",
                        "ada@",
                        "a b@example.org",
                        "ada@example.org\r\nX: y",
                        "<script>@example.org",
                        "ada@exämple.org",
                        "a".repeat(250) + "@b.org")) {
            var refused = assertThrows(Failure.class, () -> Email.parse("email", text));
            assertEquals(Code.BAD_REQUEST, refused.code());
            assertTrue(refused.getMessage().startsWith("email "), refused.getMessage());
        }
    }
}
