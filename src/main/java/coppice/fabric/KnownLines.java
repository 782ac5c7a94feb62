package coppice.fabric;

import coppice.network.AccountNetworks;
import coppice.network.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The lines of an account's rules in one segment. As long as nobody comes or goes they are remembered, so that a change of rules costs as
/// much as what changes.
final class KnownLines {
    private final Place place;
    private final Public open;
    private AccountNetworks networks = AccountNetworks.NONE;

    /// Of the rules of `networks`, one by one.
    private List<List<RuleLines.Line>> known = List.of();

    KnownLines(Place place, Public open) {
        this.place = place;
        this.open = open;
    }

    /// By the chain that they stand in.
    ///
    /// @param verdict what follows when one matches
    Map<String, List<String>> of(AccountNetworks now, String verdict) {
        known = lines(now, verdict);
        networks = now;
        var chains = new TreeMap<String, List<String>>();
        chains.put(RuleLines.OTHERS, new ArrayList<>());
        for (var ofRule : known) {
            for (var line : ofRule) {
                chains.computeIfAbsent(line.chain(), _ -> new ArrayList<>()).add(line.text());
            }
        }
        return chains;
    }

    private List<List<RuleLines.Line>> lines(AccountNetworks now, String verdict) {
        var fresh = new RuleLines(place, now, open);
        var old = isAsBefore(now) ? networks.rules() : List.<Rule>of();
        var kept = Kept.positions(now.rules(), old);
        var lines = new ArrayList<List<RuleLines.Line>>(kept.length);
        for (int i = 0; i < kept.length; i++) {
            lines.add(kept[i] < 0 ? fresh.of(now.rules().get(i), verdict) : known.get(kept[i]));
        }
        return lines;
    }

    /// Changes of rules leave those maps, and the rules that stay, the very same.
    private boolean isAsBefore(AccountNetworks now) {
        return now.nics() == networks.nics() && now.tunnels() == networks.tunnels();
    }
}
