package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HubRulesTest {
    static List<Golden> golden() throws Exception {
        return Golden.all("hub-");
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theRulesOfTheHubAndTheHostAreThoseOfTheGoldenFile(Golden golden) {
        var rules = new HubRules(golden.settings());
        assertEquals(golden.expected(), rules.inside(false) + rules.host(false));
    }
}
