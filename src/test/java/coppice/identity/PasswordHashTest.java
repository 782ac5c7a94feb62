package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class PasswordHashTest {
    private static final Secret RIGHT = new Secret("correct horse");

    @Test
    void itIsOfItsPasswordAndOfNoOther() {
        var hash = PasswordHash.of(RIGHT, 10);
        assertTrue(hash.isOf(RIGHT));
        for (var wrong : List.of("", "correct hors", "Correct horse", "correct horse ")) {
            assertFalse(hash.isOf(new Secret(wrong)), wrong);
        }
        assertFalse(PasswordHash.ofNothing(10).isOf(RIGHT));
    }

    @Test
    void equalPasswordsHaveDifferentHashesAndNeitherShows() {
        var hash = PasswordHash.of(RIGHT, 10);
        assertNotEquals(hash.text(), PasswordHash.of(RIGHT, 10).text());
        assertEquals("***", hash.toString());
        assertFalse(hash.text().contains("horse"));
    }

    @Test
    void aNewPasswordIsHashedSixHundredThousandTimesAndSaysSo() {
        var hash = PasswordHash.of(RIGHT);
        assertTrue(
                hash.text()
                        .matches(
                                "pbkdf2-sha256\\$600000\\$[A-Za-z0-9+/=]{24}\\$[A-Za-z0-9+/=]{44}"),
                hash.text());
        assertTrue(hash.isOf(RIGHT));
    }

    @Test
    void theSameLettersAreTheSamePasswordHoweverTheyAreTyped() {
        var hash = PasswordHash.of(new Secret("caf\u00e9 au lait"), 10);
        assertTrue(hash.isOf(new Secret("cafe\u0301 au lait")));
    }

    @Test
    void aPasswordHasTenToTwoHundredCharactersThatCanBeTyped() {
        assertEquals("0123456789", Passwords.parse("0123456789").reveal());
        assertEquals(200, Passwords.parse("x".repeat(200)).reveal().length());
        for (var text :
                List.of("", "012345678", "x".repeat(201), "0123456789\n", "01234\u000056789")) {
            var refused = assertThrows(Failure.class, () -> Passwords.parse(text));
            assertEquals(Code.BAD_REQUEST, refused.code());
            assertFalse(text.length() > 1 && refused.getMessage().contains(text), "it shows");
        }
        assertNotEquals(Passwords.random().reveal(), Passwords.random().reveal());
    }

    @Test
    void moreChecksThanThereIsRoomForAreRefusedAndTheOthersAreAnswered() throws Exception {
        var slow = PasswordHash.of(RIGHT, 200_000);
        int callers = 30;
        try (var passwords = new Passwords(1, 200_000);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var start = new CountDownLatch(1);
            var answers = new ArrayList<Future<String>>();
            for (int i = 0; i < callers; i++) {
                answers.add(
                        threads.submit(
                                () -> {
                                    start.await();
                                    return outcome(passwords, slow);
                                }));
            }
            start.countDown();
            int right = 0;
            int refused = 0;
            for (var answer : answers) {
                switch (answer.get()) {
                    case "true" -> right++;
                    case "UNAVAILABLE" -> refused++;
                    case String other -> throw new AssertionError(other);
                }
            }
            assertTrue(right >= 1 && refused >= 1, right + " right, " + refused + " refused");
            assertTrue(passwords.isRight(Optional.of(slow), RIGHT), "there is room again");
        }
    }

    private static String outcome(Passwords passwords, PasswordHash hash) {
        try {
            return String.valueOf(passwords.isRight(Optional.of(hash), RIGHT));
        } catch (Failure e) {
            assertTrue(e.retryAfter().isPresent(), "it says when to come back");
            return e.code().name();
        }
    }
}
