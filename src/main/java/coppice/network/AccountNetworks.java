package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/// Everything of one account's networks at one moment. Never changes: a change makes another one.
///
/// @param rules oldest first
public record AccountNetworks(
        Map<VpcId, Vpc> vpcs,
        Map<MemberId, Nic> nics,
        Map<TunnelId, Tunnel> tunnels,
        List<Rule> rules) {
    public static final AccountNetworks NONE =
            new AccountNetworks(Map.of(), Map.of(), Map.of(), List.of());

    private static final Comparator<Rule> BY_AGE =
            Comparator.comparing(Rule::createdAt).thenComparing(rule -> rule.id().text());

    public AccountNetworks {
        vpcs = Collections.unmodifiableMap(vpcs);
        nics = Collections.unmodifiableMap(nics);
        tunnels = Collections.unmodifiableMap(tunnels);
        rules = Collections.unmodifiableList(rules);
    }

    /// By id, or by slug if it has no id's form.
    public Optional<Vpc> vpc(String name) {
        return VpcId.isId(name)
                ? Optional.ofNullable(vpcs.get(new VpcId(name)))
                : withSlug(vpcs.values().stream(), Vpc::slug, name);
    }

    /// By id, or by slug if it has no id's form.
    public Optional<Tunnel> tunnel(String name) {
        return TunnelId.isId(name)
                ? Optional.ofNullable(tunnels.get(new TunnelId(name)))
                : withSlug(tunnels.values().stream(), Tunnel::slug, name);
    }

    private static <T> Optional<T> withSlug(
            Stream<T> things, Function<T, Optional<Slug>> slug, String name) {
        return things.filter(
                        thing -> slug.apply(thing).map(Slug::text).filter(name::equals).isPresent())
                .findFirst();
    }

    public Optional<Rule> rule(RuleId id) {
        return rules.stream().filter(rule -> rule.id().equals(id)).findFirst();
    }

    public Optional<Nic> nic(MemberId vm) {
        return Optional.ofNullable(nics.get(vm));
    }

    public Stream<Nic> members(VpcId vpc) {
        return nics.values().stream().filter(nic -> nic.isIn(vpc));
    }

    public Stream<Tunnel> tunnelsOf(VpcId vpc) {
        return tunnels.values().stream().filter(tunnel -> tunnel.attachment(vpc).isPresent());
    }

    /// Refuses ends of rules that name what is not there.
    ///
    /// @param field of the end, for the message
    void requireNamed(String field, Matcher end) {
        end.vm().filter(id -> !nics.containsKey(id)).ifPresent(id -> absent(field + ".vmId", id));
        end.vpc().filter(id -> !vpcs.containsKey(id)).ifPresent(id -> absent(field + ".vpcId", id));
        end.tunnel()
                .filter(id -> !tunnels.containsKey(id))
                .ifPresent(id -> absent(field + ".tunnelId", id));
    }

    private static void absent(String field, Object id) {
        throw new Failure(Code.NOT_FOUND, "%s: there is no %s".formatted(field, id));
    }

    AccountNetworks with(Vpc vpc) {
        return new AccountNetworks(put(vpcs, vpc.id(), vpc), nics, tunnels, rules);
    }

    AccountNetworks with(Nic nic) {
        return new AccountNetworks(vpcs, put(nics, nic.vm(), nic), tunnels, rules);
    }

    AccountNetworks with(Tunnel tunnel) {
        return new AccountNetworks(vpcs, nics, put(tunnels, tunnel.id(), tunnel), rules);
    }

    AccountNetworks with(List<Rule> more) {
        var all = new ArrayList<>(rules);
        all.addAll(more);
        all.sort(BY_AGE);
        return new AccountNetworks(vpcs, nics, tunnels, all);
    }

    /// The same with these rules and no others.
    public AccountNetworks withRules(List<Rule> only) {
        return new AccountNetworks(vpcs, nics, tunnels, only);
    }

    AccountNetworks without(RuleId rule) {
        return new AccountNetworks(
                vpcs,
                nics,
                tunnels,
                rules.stream().filter(other -> !other.id().equals(rule)).toList());
    }

    /// Without the thing and without the rules that name it. A network's tunnels are detached from it.
    AccountNetworks without(Named thing) {
        var left = rules.stream().filter(rule -> !rule.names(thing)).toList();
        return switch (thing) {
            case Named.Member(var id) -> new AccountNetworks(vpcs, remove(nics, id), tunnels, left);
            case Named.Passage(var id) ->
                    new AccountNetworks(vpcs, nics, remove(tunnels, id), left);
            case Named.Network(var id) -> {
                var detached = new LinkedHashMap<>(tunnels);
                detached.replaceAll((_, tunnel) -> tunnel.without(id));
                yield new AccountNetworks(remove(vpcs, id), nics, detached, left);
            }
        };
    }

    private static <K, V> Map<K, V> put(Map<K, V> map, K key, V value) {
        var changed = new LinkedHashMap<>(map);
        changed.put(key, value);
        return changed;
    }

    private static <K, V> Map<K, V> remove(Map<K, V> map, K key) {
        var changed = new LinkedHashMap<>(map);
        changed.remove(key);
        return changed;
    }
}
