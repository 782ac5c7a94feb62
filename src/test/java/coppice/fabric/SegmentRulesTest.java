package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SegmentRulesTest {
    static List<Golden> golden() throws Exception {
        return Golden.all("segment-");
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theRulesAreThoseOfTheGoldenFile(Golden golden) {
        assertEquals(golden.expected(), rules(golden).text(7, Optional.empty()).lines());
    }

    @ParameterizedTest
    @MethodSource("golden")
    void inThePlaceOfOthersTheyAreTheSameOnceThoseAreGone(Golden golden) {
        var rules = rules(golden);
        var text = rules.text(7, Optional.of(Set.of("from_99", "others", "to_99")));
        var whole = rules.text(7, Optional.empty());
        var body = whole.lines().substring(whole.lines().indexOf("table bridge port {"));
        var gone = "delete chain inet segment from_99\ndelete chain inet segment to_99\n";
        assertTrue(text.lines().endsWith(gone + body), text::lines);
        assertEquals(whole.chains(), text.chains());
    }

    @ParameterizedTest
    @MethodSource("golden")
    void noSetOfOthersIsKeptButWhatIsCounted(Golden golden) {
        var text = rules(golden).text(7, Optional.of(Set.of())).lines();
        for (var line : text.lines().map(String::strip).toList()) {
            if (line.matches("(set|map) (?!connections).*")) {
                var words = line.split(" ");
                var emptied = "flush %s \\w+ \\w+ %s".formatted(words[0], words[1]);
                assertTrue(text.lines().anyMatch(other -> other.matches(emptied)), emptied);
            }
        }
    }

    private static SegmentRules rules(Golden golden) {
        return new SegmentRules(
                golden.here(), golden.networks(), golden.taps(), List.of(), golden.settings());
    }
}
