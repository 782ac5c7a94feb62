package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SegmentRulesTest {
    private static final Optional<SegmentUpdate.Placed> UNKNOWN =
            Optional.of(SegmentUpdate.Placed.unknown(List.of(), 0));

    static List<Golden> golden() throws Exception {
        return Golden.all("segment-");
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theRulesAreThoseOfTheGoldenFile(Golden golden) {
        assertEquals(
                golden.expected(), SegmentUpdate.of(rules(golden), Optional.empty(), 7).lines());
    }

    @ParameterizedTest
    @MethodSource("golden")
    void noSetOfOthersIsKeptButWhatIsCounted(Golden golden) {
        var text = SegmentUpdate.of(rules(golden), UNKNOWN, 7).lines();
        for (var line : text.lines().map(String::strip).toList()) {
            if (line.matches("(set|map) (?!connections).*")) {
                var words = line.split(" ");
                var emptied = "flush %s \\w+ \\w+ %s".formatted(words[0], words[1]);
                assertTrue(text.lines().anyMatch(other -> other.matches(emptied)), emptied);
            }
        }
    }

    private static SegmentRules rules(Golden golden) {
        var open = Public.of(golden.settings().ipv6());
        var lines = new KnownLines(golden.here(), open).of(golden.networks(), SegmentRules.VERDICT);
        return new SegmentRules(lines, golden.taps(), List.of(), golden.settings());
    }
}
