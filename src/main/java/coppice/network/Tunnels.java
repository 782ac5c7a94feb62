package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.identity.AccountId;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The door to tunnels, beside [Networks] on the same records: what is said there of accounts, of returning calls and of failures holds
/// here too. Thread-safe.
public final class Tunnels {
    private static final Comparator<Tunnel> NEWEST_FIRST =
            Comparator.comparing(Tunnel::createdAt)
                    .thenComparing(tunnel -> tunnel.id().text())
                    .reversed();

    private final Truth truth;
    private final NetworkLimits limits;
    private final TunnelSettings settings;
    private final PublicKey serverKey;
    private final InstantSource clock;

    Tunnels(
            Truth truth,
            NetworkLimits limits,
            TunnelSettings settings,
            PublicKey serverKey,
            InstantSource clock) {
        this.truth = truth;
        this.limits = limits;
        this.settings = settings;
        this.serverKey = serverKey;
        this.clock = clock;
        requirePorts();
    }

    /// A tunnel whose client has a new key.
    ///
    /// @param privateKey the client's, if it was minted here. It is kept nowhere
    public record Issued(Tunnel tunnel, Optional<Secret> privateKey) {}

    /// Makes a tunnel with all its attachments, or nothing.
    public Issued create(AccountId account, NewTunnel wanted) {
        return issue(
                wanted.clientKey(),
                key ->
                        truth.change(
                                account,
                                before -> {
                                    var tunnel = planned(account, before, wanted, key);
                                    return new Truth.Change<>(
                                            before.with(tunnel),
                                            handle -> TunnelRecords.insert(handle, tunnel),
                                            tunnel);
                                }));
    }

    private static Issued issue(Optional<PublicKey> given, Function<PublicKey, Tunnel> use) {
        if (given.isPresent()) {
            return new Issued(use.apply(given.get()), Optional.empty());
        }
        var minted = KeyPair.random();
        return new Issued(use.apply(minted.publicKey()), Optional.of(minted.privateKey()));
    }

    /// Looks for what is absent, then for what is wrong, then for what is in the way.
    private Tunnel planned(
            AccountId account, AccountNetworks before, NewTunnel wanted, PublicKey key) {
        var places = wanted.attachments();
        var vpcs = places.stream().map(place -> requireVpc(before, place)).toList();
        requireEachOnce(places, vpcs);
        for (int i = 0; i < places.size(); i++) {
            places.get(i).requirePossible(wanted.routes(), vpcs.get(i));
        }
        if (before.tunnels().size() >= limits.tunnels()) {
            throw new Failure(
                    Code.CONFLICT,
                    "an account has at most %d tunnels; delete some first"
                            .formatted(limits.tunnels()));
        }
        Networks.requireFree(wanted.slug(), before::tunnel, Tunnel::id, Optional.empty());
        requireUnused(key, Optional.empty());
        var now = now();
        var tunnel =
                new Tunnel(
                        TunnelId.random(),
                        account,
                        freeNumber(),
                        wanted.slug(),
                        wanted.displayName(),
                        key,
                        wanted.routes(),
                        List.of(),
                        now,
                        now);
        for (int i = 0; i < places.size(); i++) {
            tunnel =
                    tunnel.with(
                            new Attaching(before, tunnel, vpcs.get(i)).place(places.get(i), now));
        }
        return tunnel;
    }

    private static Vpc requireVpc(AccountNetworks networks, NewAttachment wanted) {
        return networks.vpc(wanted.vpc())
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "%svpcId: there is no network %s"
                                                .formatted(
                                                        wanted.place(),
                                                        Networks.shown(wanted.vpc()))));
    }

    private static void requireEachOnce(List<NewAttachment> places, List<Vpc> vpcs) {
        var seen = new HashSet<VpcId>();
        for (int i = 0; i < vpcs.size(); i++) {
            if (!seen.add(vpcs.get(i).id())) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "%svpcId: %s stands there twice; a tunnel has one place in a network"
                                .formatted(places.get(i).place(), vpcs.get(i).id()));
            }
        }
    }

    /// Newest first.
    public List<Tunnel> list(AccountId account) {
        return truth.of(account).tunnels().values().stream().sorted(NEWEST_FIRST).toList();
    }

    /// Those that are attached to a network, newest first.
    public List<Tunnel> list(AccountId account, String vpc) {
        var networks = truth.of(account);
        return networks.tunnelsOf(Networks.requireVpc(networks, vpc).id())
                .sorted(NEWEST_FIRST)
                .toList();
    }

    public Tunnel get(AccountId account, String name) {
        return requireTunnel(truth.of(account), name);
    }

    /// Where the client of a tunnel finds this server.
    public Endpoint endpoint(Tunnel tunnel) {
        return new Endpoint(settings.host(), settings.firstPort() + tunnel.number(), serverKey);
    }

    /// Gives a tunnel another slug and name.
    ///
    /// @param change from the tunnel as it is to what it is to be; only these two may differ
    public Tunnel update(AccountId account, String name, UnaryOperator<Tunnel> change) {
        return change(
                account,
                name,
                (before, tunnel) -> {
                    var wanted = change.apply(tunnel);
                    Networks.requireFree(
                            wanted.slug(), before::tunnel, Tunnel::id, Optional.of(tunnel.id()));
                    return tunnel.with(wanted.slug(), wanted.displayName());
                });
    }

    /// Gives the client of a tunnel another key. The old one is refused when this returns. All else stays.
    ///
    /// @param given absent: a pair is minted
    public Issued rotateKey(AccountId account, String name, Optional<PublicKey> given) {
        return issue(
                given,
                key ->
                        change(
                                account,
                                name,
                                (_, tunnel) -> {
                                    requireUnused(key, Optional.of(tunnel.id()));
                                    return tunnel.with(key);
                                }));
    }

    /// What becomes of a tunnel.
    private interface Step {
        Tunnel apply(AccountNetworks before, Tunnel tunnel);
    }

    private Tunnel change(AccountId account, String name, Step step) {
        return truth.change(
                account,
                before -> {
                    var changed = step.apply(before, requireTunnel(before, name)).updated(now());
                    return new Truth.Change<>(
                            before.with(changed),
                            handle -> TunnelRecords.update(handle, changed),
                            changed);
                });
    }

    /// Deletes a tunnel with its attachments and the rules that name it.
    public void delete(AccountId account, String name) {
        truth.change(
                account,
                before ->
                        Networks.removal(
                                before, new Named.Passage(requireTunnel(before, name).id())));
    }

    /// Gives a tunnel a place in a network.
    public Tunnel attach(AccountId account, String name, NewAttachment wanted) {
        return truth.change(
                account,
                before -> {
                    var tunnel = requireTunnel(before, name);
                    var vpc = requireVpc(before, wanted);
                    wanted.requirePossible(tunnel.routes(), vpc);
                    var now = now();
                    var place = new Attaching(before, tunnel, vpc).place(wanted, now);
                    var changed = tunnel.with(place).updated(now);
                    return new Truth.Change<>(
                            before.with(changed),
                            handle -> {
                                TunnelRecords.insert(handle, changed.id(), place);
                                TunnelRecords.update(handle, changed);
                            },
                            changed);
                });
    }

    /// Takes a tunnel out of a network. Its addresses and ranges there are free when this returns.
    public Tunnel detach(AccountId account, String name, String vpcName) {
        return truth.change(
                account,
                before -> {
                    var tunnel = requireTunnel(before, name);
                    var vpc = Networks.requireVpc(before, vpcName).id();
                    if (tunnel.attachment(vpc).isEmpty()) {
                        throw new Failure(
                                Code.NOT_FOUND,
                                "%s is not attached to %s".formatted(tunnel.id(), vpc));
                    }
                    var changed = tunnel.without(vpc).updated(now());
                    return new Truth.Change<>(
                            before.with(changed),
                            handle -> {
                                TunnelRecords.delete(handle, changed.id(), vpc);
                                TunnelRecords.update(handle, changed);
                            },
                            changed);
                });
    }

    private static Tunnel requireTunnel(AccountNetworks networks, String name) {
        return networks.tunnel(name)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "there is no tunnel " + Networks.shown(name)));
    }

    /// Whose tunnel has the key is not said: it may be another account's.
    private void requireUnused(PublicKey key, Optional<TunnelId> self) {
        if (key.equals(serverKey)
                || everyTunnel()
                        .anyMatch(
                                tunnel ->
                                        tunnel.clientKey().equals(key)
                                                && !Optional.of(tunnel.id()).equals(self))) {
            throw new Failure(
                    Code.CONFLICT,
                    "clientPublicKey: another end of a tunnel has it; make a pair for this tunnel only");
        }
    }

    /// Any of those that are free, so that it does not tell how many tunnels others have. Inside of a change, so that nobody else takes it
    /// meanwhile.
    private int freeNumber() {
        var taken = new BitSet();
        everyTunnel().forEach(tunnel -> taken.set(tunnel.number()));
        var free = IntStream.range(0, settings.ports()).filter(n -> !taken.get(n)).toArray();
        if (free.length == 0) {
            throw new Failure(
                    Code.CONFLICT,
                    "this host's port range for tunnels is used up; delete a tunnel, or have the operator widen the range");
        }
        return free[ThreadLocalRandom.current().nextInt(free.length)];
    }

    private void requirePorts() {
        everyTunnel()
                .filter(tunnel -> tunnel.number() >= settings.ports())
                .findAny()
                .ifPresent(
                        tunnel -> {
                            throw new Failure(
                                    Code.CONFLICT,
                                    "tunnel.ports: %s has the port %d after the first, and the range ends before it; widen it again"
                                            .formatted(tunnel.id(), tunnel.number()));
                        });
    }

    private Stream<Tunnel> everyTunnel() {
        return truth.all().flatMap(networks -> networks.tunnels().values().stream());
    }

    /// As precisely as the store keeps it.
    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }
}
