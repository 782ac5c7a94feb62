package coppice.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RandomTextTest {
    private static final int DRAWS = 62 * 2000;

    @Test
    void everyCharacterIsAsLikelyAsAnyOther() {
        var secrets =
                IntStream.range(0, DRAWS / 40)
                        .mapToObj(_ -> RandomText.secret(40))
                        .collect(Collectors.joining());
        assertEquals(DRAWS, secrets.length());
        var counts =
                secrets.chars()
                        .boxed()
                        .collect(Collectors.groupingBy(c -> c, Collectors.counting()));
        assertEquals(62, counts.size());
        // Six times the standard deviation: one run in some millions is beyond by chance. A byte
        // taken modulo 62 would give eight characters a quarter more than the others.
        counts.forEach(
                (c, n) -> assertTrue(Math.abs(n - 2000) < 270, "%c %d times".formatted(c, n)));
    }

    @Test
    void anIdHasTwentyCharactersOfItsAlphabetAndIsAnotherEachTime() {
        var ids = new HashSet<String>();
        for (int i = 0; i < 1000; i++) {
            var id = RandomText.id("vm-");
            assertTrue(id.matches("vm-[a-z0-9]{20}"), id);
            assertTrue(ids.add(id), id);
            var mark = RandomText.mark("vm-");
            assertTrue(mark.matches("vm-[a-z0-9]{20}"), mark);
            assertTrue(ids.add(mark), mark);
        }
    }
}
