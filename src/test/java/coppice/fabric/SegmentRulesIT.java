package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.Undo;
import coppice.network.AccountNetworks;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What nftables says to it.
class SegmentRulesIT {
    private static final int ATTEMPTS = 10;
    private static final int STEPS = 6;
    private static final Pattern USERS = Pattern.compile("chain (others|from|to_[^io])");

    private final String namespace = "lab-" + Ground.newId();
    private final String other = "lab-" + Ground.newId();
    private final Script script = new Script(Optional.empty());
    private final Undo end = new Undo();

    @BeforeEach
    void makeNamespace() {
        Ground.requireMeans();
        for (var name : List.of(namespace, other)) {
            script.here("ip netns add %s\n".formatted(name));
            end.onFailure(() -> script.here("ip netns del %s\n".formatted(name)));
        }
    }

    @AfterEach
    void removeNamespace() {
        end.close();
    }

    @Test
    void theRulesOfEveryAccountAreAcceptedAndMeanTheSameInThePlaceOfOthers() {
        var random = Seed.random(SegmentRulesIT.class);
        var placed = Optional.<SegmentUpdate.Placed>empty();
        for (int n = 1; n <= ATTEMPTS; n++) {
            var site = new Site(random);
            for (int step = 0; step < STEPS; step++) {
                var rules = site.rules();
                var update = SegmentUpdate.of(rules, placed, n * STEPS + step);
                load(namespace, update.lines());
                placed = Optional.of(update.placed());
                var whole = SegmentUpdate.of(rules, Optional.empty(), update.placed().generation());
                load(other, whole.lines());
                assertEquals(sorted(listed(other)), sorted(listed(namespace)), update::lines);
                site.change();
            }
            if (random.nextInt(4) == 0) {
                // Another server took over.
                var found = SegmentUpdate.found(script.ask(namespace, SegmentUpdate.LISTING));
                assertEquals(placed.orElseThrow().generation(), found.generation());
                assertEquals(placed.orElseThrow().users().keySet(), found.users().keySet());
                placed = Optional.of(found);
            }
        }
    }

    @Test
    void aRuleMoreCutsNothingAndOneLessHasEveryConnectionLookedAt() {
        var site = new Site(Seed.random(SegmentRulesIT.class));
        var before = SegmentUpdate.of(site.rules(), Optional.empty(), 7).placed();
        assertEquals("", SegmentUpdate.of(site.rules(), Optional.of(before), 8).lines());
        var all = site.networks;
        site.networks = all.withRules(List.of());
        var without = SegmentUpdate.of(site.rules(), Optional.of(before), 8).placed();
        assertEquals(before.users().equals(without.users()) ? 7 : 8, without.generation());
        site.networks = all;
        var again = SegmentUpdate.of(site.rules(), Optional.of(without), 9).placed();
        assertEquals(before.users(), again.users());
        boolean isSame = without.fixed().equals(again.fixed());
        assertEquals(isSame ? without.generation() : 9, again.generation());
    }

    /// A segment, and what its account has.
    private static final class Site {
        private final Random random;
        private final FabricSettings settings;
        private final AnyNetworks any;
        private final Place place;
        private final KnownLines known;
        private AccountNetworks networks;
        private List<Tap> taps;

        Site(Random random) {
            this.random = random;
            var site = Lab.Site.FIRST;
            var prefix =
                    random.nextInt(4) == 0 ? Optional.<Cidr>empty() : Optional.of(site.prefix());
            settings =
                    new FabricSettings("test", site.slots(), prefix, 1500, 8192, Optional.empty());
            any = new AnyNetworks(random, prefix);
            networks = any.next();
            var nics = List.copyOf(networks.nics().values());
            place = Place.of(nics.get(random.nextInt(nics.size())));
            known = new KnownLines(place, Public.of(settings.ipv6()));
            plug();
        }

        /// Some are not plugged in.
        private void plug() {
            taps =
                    place.nics(networks)
                            .filter(_ -> random.nextInt(8) != 0)
                            .map(nic -> new Tap(nic, new Holder.User(0)))
                            .toList();
        }

        SegmentRules rules() {
            return new SegmentRules(
                    known.of(networks, SegmentRules.VERDICT), taps, List.of(), settings);
        }

        /// Nothing is remembered.
        SegmentRules freshRules() {
            var fresh = new KnownLines(place, Public.of(settings.ipv6()));
            return new SegmentRules(
                    fresh.of(networks, SegmentRules.VERDICT), taps, List.of(), settings);
        }

        void change() {
            networks = any.changed(networks);
            if (random.nextInt(3) == 0) {
                plug();
            }
        }
    }

    private void load(String into, String lines) {
        script.in(into, "nft -f - <<'END'\n%sEND\n".formatted(lines));
    }

    private static String listed(String namespace) {
        return Lab.shown(namespace, "nft", "list", "ruleset");
    }

    /// Sets and chains are listed in the order in which they were made, and so are the rules of users, whose order means nothing.
    private static List<String> sorted(String listed) {
        return Stream.of(listed.replaceAll("(?m)^(table .*|})$", "").split("\n\n"))
                .map(String::strip)
                .map(block -> USERS.matcher(block).lookingAt() ? sortedLines(block) : block)
                .sorted()
                .toList();
    }

    private static String sortedLines(String block) {
        return block.lines().map(String::strip).sorted().collect(Collectors.joining("\n"));
    }
}
