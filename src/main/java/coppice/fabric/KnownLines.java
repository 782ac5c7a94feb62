package coppice.fabric;

import coppice.network.AccountNetworks;
import coppice.network.RuleId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The lines of an account's rules in one segment. As long as nobody comes or goes they are remembered, so that a change of rules costs as
/// much as what changes.
final class KnownLines {
    private final Place place;
    private final Public open;
    private AccountNetworks networks = AccountNetworks.NONE;
    private Map<RuleId, List<RuleLines.Line>> known = Map.of();

    KnownLines(Place place, Public open) {
        this.place = place;
        this.open = open;
    }

    /// By the chain that they stand in.
    ///
    /// @param verdict what follows when one matches
    Map<String, List<String>> of(AccountNetworks now, String verdict) {
        var lines = new RuleLines(place, now, open);
        var before = isAsBefore(now) ? known : Map.<RuleId, List<RuleLines.Line>>of();
        var after = new HashMap<RuleId, List<RuleLines.Line>>();
        var chains = new TreeMap<String, List<String>>();
        chains.put(RuleLines.OTHERS, new ArrayList<>());
        for (var rule : now.rules()) {
            var ofRule = before.get(rule.id());
            if (ofRule == null) {
                ofRule = lines.of(rule, verdict);
            }
            if (!ofRule.isEmpty()) {
                after.put(rule.id(), ofRule);
            }
            for (var line : ofRule) {
                chains.computeIfAbsent(line.chain(), _ -> new ArrayList<>()).add(line.text());
            }
        }
        networks = now;
        known = after;
        return chains;
    }

    /// Changes of rules leave those maps the very same.
    private boolean isAsBefore(AccountNetworks now) {
        return now.nics() == networks.nics() && now.tunnels() == networks.tunnels();
    }
}
