package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.Undo;
import coppice.network.AccountNetworks;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What nftables says to it.
class SegmentRulesIT {
    private static final int ATTEMPTS = 40;

    private final String namespace = "lab-" + Ground.newId();
    private final Script script = new Script(Optional.empty());
    private final Undo end = new Undo();

    @BeforeEach
    void makeNamespace() {
        Ground.requireMeans();
        script.here("ip netns add %s\n".formatted(namespace));
        end.onFailure(() -> script.here("ip netns del %s\n".formatted(namespace)));
    }

    @AfterEach
    void removeNamespace() {
        end.close();
    }

    @Test
    void theRulesOfEveryAccountAreAcceptedAndMeanTheSameInThePlaceOfOthers() {
        var random = Seed.random(SegmentRulesIT.class);
        Optional<Set<String>> chains = Optional.empty();
        for (int n = 1; n <= ATTEMPTS; n++) {
            var rules = any(random);
            var whole = rules.text(n, Optional.empty());
            load(whole.lines(), true);
            var replacing = rules.text(n, chains);
            load(replacing.lines(), false);
            var replaced = listed();
            load(whole.lines(), false);
            assertEquals(sorted(listed()), sorted(replaced), whole::lines);
            chains = Optional.of(whole.chains());
        }
    }

    private static SegmentRules any(Random random) {
        var site = Lab.Site.FIRST;
        var prefix = random.nextInt(4) == 0 ? Optional.<Cidr>empty() : Optional.of(site.prefix());
        var settings =
                new FabricSettings("test", site.slots(), prefix, 1500, 8192, Optional.empty());
        var networks = new AnyNetworks(random, prefix).next();
        var nics = List.copyOf(networks.nics().values());
        var place = Place.of(nics.get(random.nextInt(nics.size())));
        return new SegmentRules(
                place, networks, taps(random, place, networks), List.of(), settings);
    }

    /// Some are not plugged in.
    private static List<Tap> taps(Random random, Place place, AccountNetworks networks) {
        return place.nics(networks)
                .filter(_ -> random.nextInt(8) != 0)
                .map(nic -> new Tap(nic, new Holder.User(0)))
                .toList();
    }

    private void load(String lines, boolean isTrial) {
        script.in(namespace, "nft %s -f - <<'END'\n%sEND\n".formatted(isTrial ? "-c" : "", lines));
    }

    private String listed() {
        return Lab.shown(namespace, "nft", "list", "ruleset");
    }

    /// Sets and chains are listed in the order in which they were made.
    private static List<String> sorted(String listed) {
        return Stream.of(listed.replaceAll("(?m)^(table .*|})$", "").split("\n\n"))
                .map(String::strip)
                .sorted()
                .toList();
    }
}
