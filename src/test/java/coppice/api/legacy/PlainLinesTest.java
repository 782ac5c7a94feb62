package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlainLinesTest {
    private static final List<String> SEQUENCES =
            List.of(
                    "\u001b[0m",
                    "\u001b[1;31m",
                    "\u001b[38;2;1;2;3m",
                    "\u001b[?2004h",
                    "\u001b[>4;2m",
                    "\u001b[2 q",
                    "\u001b]0;a title [31m\u0007",
                    "\u001b]8;;https://a.test/\u001b\\",
                    "\u001bPq#1;2\u001b\\",
                    "\u001b_private\u001b\\",
                    "\u001b(B",
                    "\u001b#8",
                    "\u001b7",
                    "\u001b=",
                    "\u009b5;6H",
                    "\u009dtitle\u009c",
                    "\u001b[12\u0018",
                    "\u001b]never ended\u001a",
                    "\u001b[3\u001b[1m",
                    "\u0007",
                    "\u0000");

    private final Random random = Seed.random(PlainLinesTest.class);

    @Test
    void whereverSequencesStandTheTextStaysAsItIs() {
        for (int round = 0; round < 500; round++) {
            var lines = Stream.generate(this::line).limit(random.nextInt(6)).toList();
            var output =
                    lines.stream()
                            .map(line -> line + (random.nextBoolean() ? "\n" : "\r\n"))
                            .flatMapToInt(String::codePoints)
                            .mapToObj(c -> sequences() + Character.toString(c))
                            .collect(Collectors.joining());
            assertEquals(lines, PlainLines.of(output + sequences()));
        }
    }

    @Test
    void whateverComesNoControlCharacterIsLeft() {
        for (int round = 0; round < 500; round++) {
            var output =
                    random.ints(random.nextInt(400), 0, 0xa0)
                            .mapToObj(c -> Character.toString(c) + sequences())
                            .collect(Collectors.joining());
            for (var line : PlainLines.of(output)) {
                assertTrue(line.chars().noneMatch(c -> Character.isISOControl(c) && c != '\t'));
            }
        }
    }

    @Test
    void whatIsOverwrittenAndErasedIsGone() {
        assertEquals(List.of("100 %"), PlainLines.of("  1 %\r 50 %\r100 %\n"));
        assertEquals(List.of("done"), PlainLines.of("working...\rdone\u001b[K\n"));
        assertEquals(List.of("ls"), PlainLines.of("lz\b \bs"));
        assertEquals(List.of("", "a"), PlainLines.of("\r\na"));
    }

    private String sequences() {
        return random.nextInt(3) == 0 ? SEQUENCES.get(random.nextInt(SEQUENCES.size())) : "";
    }

    private String line() {
        return random.ints(random.nextInt(30))
                .mapToObj(
                        i ->
                                List.of("a", "[", "ä", "€", "😀", " ", "\t", "9m")
                                        .get(Math.floorMod(i, 8)))
                .collect(Collectors.joining());
    }
}
