package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class GuestPathTest {
    static Stream<String> wrong() {
        return Stream.of(
                "",
                "a",
                "a/b",
                "./a",
                "..",
                "/..",
                "/../a",
                "/a/..",
                "/a/../b",
                "/a\0b",
                "\0",
                "/" + "a".repeat(4096));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void whatIsNoAbsolutePathWithoutStepsUpIsRefused(String text) {
        var failure = assertThrows(Failure.class, () -> new GuestPath(text));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().chars().noneMatch(Character::isISOControl));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/a", "/...", "/a..b/..c", "/a b\nc", "/a/./b/", "//a"})
    void otherPathsAreKeptAsTheyAre(String text) {
        assertEquals(text, new GuestPath(text).text());
    }

    @Test
    void theLongestPathHas4096Characters() {
        assertEquals(4096, new GuestPath("/" + "a".repeat(4095)).text().length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "//", "/.", "/./", "/././/"})
    void theRootIsKnownInEverySpelling(String text) {
        assertTrue(new GuestPath(text).isRoot());
        assertFalse(new GuestPath(text + "/a").isRoot());
    }
}
