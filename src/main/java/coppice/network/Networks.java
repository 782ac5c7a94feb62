package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.store.Store;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/// The door of this package. Each call names the account it is for; what another account has is absent. A change is on disk, and packets
/// are held to it, when its call returns. Thread-safe.
///
/// Failures: `BAD_REQUEST`, `NOT_FOUND`, and `CONFLICT` for a slug or address that is taken, a limit, or a network that is in use.
public final class Networks {
    private static final int MAX_SHOWN = 80;

    private final Truth truth;
    private final NetworkLimits limits;
    private final InstantSource clock;

    public Networks(Store store, NetworkLimits limits, InstantSource clock) {
        this.truth = new Truth(store);
        this.limits = limits;
        this.clock = clock;
    }

    /// The ids of all private networks and tunnels in a store.
    public static Set<String> idsIn(Store store) {
        return store.read(
                handle ->
                        handle.createQuery("select id from vpcs union select id from tunnels")
                                .mapTo(String.class)
                                .set());
    }

    /// Has the listener told of every change from now on.
    public void listen(NetworkListener listener) {
        truth.listen(listener);
    }

    /// The door to the tunnels into these networks.
    ///
    /// @param key the server's, of every tunnel
    public Tunnels tunnels(TunnelSettings settings, PublicKey key) {
        return new Tunnels(truth, limits, settings, key, clock);
    }

    public AccountNetworks of(AccountId account) {
        return truth.of(account);
    }

    /// Of every account.
    public Stream<AccountNetworks> all() {
        return truth.all();
    }

    /// Whether an address is publicly routable: also if it is one of this host's VMs, whatever range they have.
    public boolean isPublic(IpAddress address) {
        return PublicAddresses.contains(address)
                || limits.ipv6().filter(range -> range.contains(address)).isPresent();
    }

    public Optional<Vpc> vpc(AccountId account, String name) {
        return of(account).vpc(name);
    }

    /// As [#vpc], but `NOT_FOUND` if there is none.
    public Vpc requireVpc(AccountId account, String name) {
        return requireVpc(of(account), name);
    }

    /// A network and the rules that came with it, in the order in which they were given.
    public record CreatedVpc(Vpc vpc, List<Rule> rules) {}

    /// Makes a private network, with its rules, or nothing.
    public CreatedVpc createVpc(AccountId account, NewVpc wanted) {
        return truth.change(
                account,
                before -> {
                    if (before.vpcs().size() >= limits.vpcs()) {
                        throw new Failure(
                                Code.CONFLICT,
                                "an account has at most %d networks; delete some first"
                                        .formatted(limits.vpcs()));
                    }
                    requireFree(wanted.slug(), before::vpc, Vpc::id, Optional.empty());
                    var vpc = VpcRanges.choose(account, wanted, before, now());
                    var with = before.with(vpc);
                    var rules =
                            newRules(
                                    account,
                                    with,
                                    wanted.rules().stream()
                                            .map(rule -> rule.meaning(vpc.id()))
                                            .toList(),
                                    "firewall.rules[%d].");
                    return new Truth.Change<>(
                            with.with(rules),
                            handle -> {
                                NetworkRecords.insert(handle, vpc);
                                NetworkRecords.insert(handle, rules);
                            },
                            new CreatedVpc(vpc, rules));
                });
    }

    /// Gives a network another slug and name.
    ///
    /// @param change from the network as it is to what it is to be; only these two may differ
    public Vpc updateVpc(AccountId account, String name, Function<Vpc, Vpc> change) {
        return truth.change(
                account,
                before -> {
                    var changed = change.apply(requireVpc(before, name));
                    requireFree(changed.slug(), before::vpc, Vpc::id, Optional.of(changed.id()));
                    return new Truth.Change<>(
                            before.with(changed),
                            handle -> NetworkRecords.update(handle, changed),
                            changed);
                });
    }

    /// Deletes a network that no VM is in, with the rules that name it; tunnels are detached.
    public void deleteVpc(AccountId account, String name) {
        truth.change(
                account,
                before -> {
                    var vpc = requireVpc(before, name);
                    before.members(vpc.id())
                            .findAny()
                            .ifPresent(
                                    nic -> {
                                        throw new Failure(
                                                Code.CONFLICT,
                                                "%s is in this network and stays in it; delete that VM first"
                                                        .formatted(nic.vm()));
                                    });
                    return removal(before, new Named.Network(vpc.id()));
                });
    }

    static Vpc requireVpc(AccountNetworks networks, String name) {
        return networks.vpc(name)
                .orElseThrow(
                        () -> new Failure(Code.NOT_FOUND, "there is no network " + shown(name)));
    }

    /// As precisely as the store keeps it.
    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /// A name that a caller sent, as it may stand in a message.
    public static String shown(String name) {
        var cut = name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN) + "...";
        return cut.replaceAll("\\p{Cntrl}", "?");
    }

    /// Refuses a slug that another thing has.
    ///
    /// @param find the thing that has a slug
    /// @param self the thing that is to have it, if it is there already
    static <T, I> void requireFree(
            Optional<Slug> slug,
            Function<String, Optional<T>> find,
            Function<T, I> id,
            Optional<I> self) {
        slug.flatMap(wanted -> find.apply(wanted.text()))
                .map(id)
                .filter(holder -> !Optional.of(holder).equals(self))
                .ifPresent(
                        holder -> {
                            throw new Failure(
                                    Code.CONFLICT,
                                    "slug: '%s' is held by %s; choose another one"
                                            .formatted(slug.get(), holder));
                        });
    }

    /// Adds a rule whose ends both say who they are.
    public Rule createRule(AccountId account, NewRule wanted) {
        return truth.change(
                account,
                before -> {
                    var rules = newRules(account, before, List.of(wanted), "");
                    return new Truth.Change<>(
                            before.with(rules),
                            handle -> NetworkRecords.insert(handle, rules),
                            rules.getFirst());
                });
    }

    public Rule rule(AccountId account, String id) {
        return requireRule(of(account), id);
    }

    /// Removes a rule. New connections that only it permitted are refused, and old ones are cut, when this returns.
    public void deleteRule(AccountId account, String id) {
        truth.change(
                account,
                before -> {
                    var rule = requireRule(before, id);
                    return new Truth.Change<>(
                            before.without(rule.id()),
                            handle -> NetworkRecords.deleteRule(handle, rule.id()),
                            rule);
                });
    }

    private static Rule requireRule(AccountNetworks networks, String id) {
        return Optional.of(id)
                .filter(RuleId::isId)
                .map(RuleId::new)
                .flatMap(networks::rule)
                .orElseThrow(() -> new Failure(Code.NOT_FOUND, "there is no rule " + shown(id)));
    }

    /// @param field in front of the names of fields, with the rule's index
    private List<Rule> newRules(
            AccountId account, AccountNetworks networks, List<NewRule> wanted, String field) {
        var now = now();
        var rules = new ArrayList<Rule>();
        for (int i = 0; i < wanted.size(); i++) {
            var rule = wanted.get(i);
            networks.requireNamed(field.formatted(i) + "source", rule.source());
            networks.requireNamed(field.formatted(i) + "destination", rule.destination());
            rules.add(
                    new Rule(
                            RuleId.random(),
                            account,
                            rule.source(),
                            rule.destination(),
                            rule.description(),
                            now));
        }
        if (networks.rules().size() + rules.size() > limits.rules() && !rules.isEmpty()) {
            throw new Failure(
                    Code.CONFLICT,
                    "%san account has at most %d firewall rules and this one has %d; delete some or send fewer"
                            .formatted(
                                    field.isEmpty() ? "" : "firewall.rules: ",
                                    limits.rules(),
                                    networks.rules().size()));
        }
        return List.copyOf(rules);
    }

    /// The public address that goes with a slot.
    public Optional<IpAddress> publicIpv6(int slot) {
        return limits.ipv6().map(Cidr::first).map(first -> first.plus(slot));
    }

    /// What a VM has got, its rules in the order in which they were given; `written` is what the caller's unit returned.
    public record Joined<T>(Nic nic, List<Rule> rules, T written) {}

    /// Gives a new VM its interface and its rules, in one unit with the caller's.
    ///
    /// @param slot a small number that no other VM of this host has
    /// @param commit has the given part run in its unit of the store, and returns when that is on disk
    public <T> Joined<T> join(
            AccountId account,
            MemberId vm,
            int slot,
            NewNic wanted,
            Function<Consumer<Handle>, T> commit) {
        return truth.change(
                account,
                before -> {
                    var nic =
                            new Nic(
                                    vm,
                                    account,
                                    slot,
                                    publicIpv6(slot),
                                    wanted.place().map(place -> place(before, place)));
                    var with = before.with(nic);
                    var rules =
                            newRules(
                                    account,
                                    with,
                                    wanted.rules().stream().map(rule -> rule.meaning(vm)).toList(),
                                    "firewall.rules[%d].");
                    return new Truth.Change<>(
                            with.with(rules),
                            handle -> {
                                NetworkRecords.insert(handle, nic);
                                NetworkRecords.insert(handle, rules);
                            },
                            new Joined<>(nic, rules, Optional.empty()));
                },
                commit,
                (written, joined) -> new Joined<>(joined.nic(), joined.rules(), written));
    }

    private static Membership place(AccountNetworks networks, NewMembership wanted) {
        var vpc = requireVpc(networks, wanted.vpc().text());
        wanted.requireIn(vpc);
        var addresses = new Addresses(networks, vpc);
        return new Membership(
                vpc.id(),
                addresses.pick(wanted.field() + ".ipv4", false, wanted.ipv4()),
                addresses.pick(wanted.field() + ".ipv6", true, wanted.ipv6()),
                wanted.routes());
    }

    /// Takes a VM out of everything, with the rules that name it, in one unit with the caller's.
    public void leave(AccountId account, MemberId vm, Consumer<Consumer<Handle>> commit) {
        truth.change(
                account,
                before -> removal(before, new Named.Member(vm)),
                write -> {
                    commit.accept(write);
                    return true;
                },
                (_, gone) -> gone);
    }

    static Truth.Change<Named> removal(AccountNetworks before, Named thing) {
        return new Truth.Change<>(
                before.without(thing),
                handle ->
                        NetworkRecords.delete(
                                handle,
                                thing,
                                before.rules().stream().filter(rule -> rule.names(thing))),
                thing);
    }
}
