package coppice.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlugTest {
    private static final String SIXTY_THREE = "a".repeat(63);

    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "web", "web-1", "a-b-c", "svc"})
    void lettersAndDigitsWithSingleDashesBetweenAreASlug(String text) {
        assertEquals(text, Slug.parse("slug", text).text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", "-", "-a", "a-", "a--b", "A", "ä", "a_b", "a b", "a.b", "a\n", "a\0", "٣"
            })
    void anythingElseIsABadRequestThatNamesTheField(String text) {
        var failure = assertThrows(Failure.class, () -> Slug.parse("slug", text));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().startsWith("slug must be"), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 100_000})
    void aSlugHasAtMost63Characters(int length) {
        assertEquals(SIXTY_THREE, Slug.parse("slug", SIXTY_THREE).text());
        assertThrows(Failure.class, () -> Slug.parse("slug", "a".repeat(length)));
        assertThrows(IllegalArgumentException.class, () -> new Slug("a".repeat(length)));
    }
}
