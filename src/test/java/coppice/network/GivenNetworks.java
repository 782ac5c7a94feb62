package coppice.network;

import coppice.base.Cidr;
import coppice.base.RandomText;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/// Networks on a store of their own. Their VMs are members and nothing else, and their clock goes on by a second whenever it is looked at.
public final class GivenNetworks implements AutoCloseable {
    private final AtomicInteger slots = new AtomicInteger();
    private final Path file;
    private final NetworkLimits limits;
    private final AtomicReference<Instant> time =
            new AtomicReference<>(Instant.parse("2026-03-01T09:30:00.123456Z"));
    private Store store;
    private Networks networks;

    public GivenNetworks(Path directory) {
        this(directory, NetworkLimits.USUAL);
    }

    public GivenNetworks(Path directory, NetworkLimits limits) {
        this.file = directory.resolve("networks.db");
        this.limits = limits;
        open();
    }

    private void open() {
        store = Store.open(file);
        networks =
                new Networks(
                        store,
                        limits,
                        () -> time.updateAndGet(now -> now.plus(Duration.ofSeconds(1))));
    }

    /// Fails if another server would not read what there is now.
    public void requireKept(AccountId... accounts) {
        var before = Stream.of(accounts).map(networks::of).toList();
        reopen();
        var after = Stream.of(accounts).map(networks::of).toList();
        if (!after.equals(before)) {
            throw new AssertionError("was %s and is %s".formatted(before, after));
        }
    }

    public Networks networks() {
        return networks;
    }

    /// Has another server come up with the same store.
    public void reopen() {
        store.close();
        open();
    }

    public Vpc vpc(AccountId account, String slug) {
        return networks.createVpc(account, wanted(slug)).vpc();
    }

    public static NewVpc wanted(String slug) {
        return wanted(Optional.of(slug), Optional.empty());
    }

    public static NewVpc wanted(Optional<String> slug, Optional<String> cidr) {
        return new NewVpc(
                cidr.map(Cidr::stored),
                Optional.empty(),
                slug.map(Slug::new),
                Optional.empty(),
                List.of());
    }

    public static MemberId member() {
        return new MemberId(RandomText.id("vm-"));
    }

    /// A new VM in this network, with the lowest free addresses.
    public MemberId memberOf(AccountId account, Vpc vpc) {
        return join(account, member(), Optional.of(place(vpc))).nic().vm();
    }

    public static NewMembership place(Vpc vpc) {
        return place(vpc, new Wanted.Any());
    }

    public static NewMembership place(Vpc vpc, Wanted ipv4) {
        return new NewMembership("vpcs[0]", vpc.id(), ipv4, new Wanted.Any(), List.of());
    }

    public Networks.Joined<Boolean> join(
            AccountId account, MemberId vm, Optional<NewMembership> place, NewRule... rules) {
        return networks.join(
                account,
                vm,
                slots.incrementAndGet(),
                new NewNic(place, List.of(rules)),
                part -> {
                    store.change(part);
                    return true;
                });
    }

    public void leave(AccountId account, MemberId vm) {
        networks.leave(account, vm, store::change);
    }

    /// A tunnel that is attached to nothing.
    public static Tunnel tunnel(AccountId account, String slug) {
        var now = Instant.EPOCH;
        return new Tunnel(
                TunnelId.random(),
                account,
                1,
                Optional.of(new Slug(slug)),
                Optional.of("The tunnel " + slug),
                PublicKey.of(RandomText.bytes(32)),
                List.of(Cidr.stored("10.0.0.0/8")),
                List.of(),
                now,
                now);
    }

    public static AccountNetworks with(AccountNetworks networks, Tunnel tunnel) {
        return networks.with(tunnel);
    }

    /// A rule of the account, which nothing keeps.
    public static Rule rule(AccountId account, NewRule wanted) {
        return new Rule(
                RuleId.random(),
                account,
                wanted.source(),
                wanted.destination(),
                wanted.description(),
                Instant.EPOCH);
    }

    @Override
    public void close() {
        store.close();
    }
}
