package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RuleLinesTest {
    static List<Golden> golden() throws Exception {
        return Golden.all("rules-");
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theLinesAreThoseOfTheGoldenFile(Golden golden) {
        var open = Public.of(golden.settings().ipv6());
        var lines = new KnownLines(golden.here(), open).of(golden.networks(), "accept");
        var text =
                lines.entrySet().stream()
                        .map(chain -> chain.getKey() + "\n" + indented(chain.getValue()))
                        .collect(Collectors.joining());
        assertEquals(golden.expected(), text);
    }

    private static String indented(List<String> lines) {
        return lines.stream().map("  %s\n"::formatted).collect(Collectors.joining());
    }
}
