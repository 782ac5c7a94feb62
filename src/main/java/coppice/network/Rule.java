package coppice.network;

import coppice.identity.AccountId;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/// A permission: connections that are opened from the source to the destination, and their replies. What no rule permits is denied. A rule
/// never changes.
public record Rule(
        RuleId id,
        AccountId account,
        Matcher source,
        Matcher destination,
        Optional<String> description,
        Instant createdAt) {

    /// What it is deleted with, each once, the source's first.
    public List<Named> dependencies() {
        var named = new LinkedHashSet<Named>();
        for (var end : List.of(source, destination)) {
            end.vm().ifPresent(id -> named.add(new Named.Member(id)));
            end.vpc().ifPresent(id -> named.add(new Named.Network(id)));
            end.tunnel().ifPresent(id -> named.add(new Named.Passage(id)));
        }
        return List.copyOf(named);
    }

    public boolean names(Named thing) {
        return source.names(thing) || destination.names(thing);
    }
}
