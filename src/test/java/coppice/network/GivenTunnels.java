package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.function.Executable;

/// Private networks and the tunnels into them, in a store of their own, at a time that stands still.
public final class GivenTunnels implements AutoCloseable {
    public static final TunnelSettings SETTINGS =
            new TunnelSettings(Optional.of("tunnel.example.test"), 51_820, 1024);

    private final AtomicInteger slots = new AtomicInteger();
    private final Path directory;
    private final TunnelSettings settings;
    private final AccountId ada = AccountId.random();
    private final AccountId bob = AccountId.random();
    private final ServerKey serverKey;
    private Instant now = Instant.parse("2026-03-01T09:30:00Z");
    private Store store;
    private Networks networks;
    private Tunnels tunnels;

    public GivenTunnels(Path directory) {
        this(directory, SETTINGS);
    }

    public GivenTunnels(Path directory, TunnelSettings settings) {
        this.directory = directory;
        this.settings = settings;
        this.serverKey = new ServerKey(directory.resolve("wireguard.key"));
        open(settings);
    }

    private void open(TunnelSettings with) {
        store = Store.open(file());
        networks = new Networks(store, NetworkLimits.USUAL, () -> now);
        tunnels = networks.tunnels(with, serverKey.publicKey());
    }

    /// As after a restart of the server.
    void reopen() {
        reopen(settings);
    }

    void reopen(TunnelSettings with) {
        store.close();
        open(with);
    }

    Path file() {
        return directory.resolve("test.db");
    }

    public void pass(Duration time) {
        now = now.plus(time);
    }

    public Networks networks() {
        return networks;
    }

    public Tunnels tunnels() {
        return tunnels;
    }

    public PublicKey serverKey() {
        return serverKey.publicKey();
    }

    public AccountId ada() {
        return ada;
    }

    public AccountId bob() {
        return bob;
    }

    /// One of Ada's.
    public Vpc network(String slug, String cidr) {
        return network(ada, slug, cidr, Optional.empty());
    }

    public Vpc network(AccountId account, String slug, String cidr, Optional<String> cidrV6) {
        var wanted =
                new NewVpc(
                        Optional.of(Cidr.stored(cidr)),
                        cidrV6.map(Cidr::stored),
                        Optional.of(new Slug(slug)),
                        Optional.empty(),
                        List.of());
        return networks.createVpc(account, wanted).vpc();
    }

    /// A VM of Ada's in one of her networks.
    public Nic vm(String id, Vpc network) {
        var place =
                new NewMembership(
                        "vpcs[0]", network.id(), new Wanted.Any(), new Wanted.Any(), List.of());
        var wanted = new NewNic(Optional.of(place), List.of());
        return networks.join(
                        ada,
                        new MemberId(id),
                        slots.incrementAndGet(),
                        wanted,
                        write -> {
                            store.change(write);
                            return true;
                        })
                .nic();
    }

    void leave(String id) {
        networks.leave(ada, new MemberId(id), write -> store.change(write));
    }

    /// One of Ada's, attached to nothing.
    public Tunnel tunnel(String slug) {
        return tunnel(ada, slug);
    }

    public Tunnel tunnel(AccountId account, String slug) {
        return tunnels.create(account, wanted(slug)).tunnel();
    }

    static NewTunnel wanted(String slug, NewAttachment... places) {
        return new NewTunnel(
                Optional.of(new Slug(slug)),
                Optional.empty(),
                Optional.empty(),
                NewTunnel.USUAL_ROUTES,
                List.of(places));
    }

    /// A place at whichever addresses are free.
    static NewAttachment in(String vpc, String... remote) {
        return new NewAttachment(
                "", vpc, new Wanted.Any(), new Wanted.Any(), ranges(remote), false);
    }

    /// A place in the network `backend` at this address.
    static NewAttachment at(String text, String... remote) {
        var address = IpAddress.stored(text);
        var wanted = new Wanted.Exactly(address);
        return address.isV6()
                ? new NewAttachment("", "backend", new Wanted.None(), wanted, ranges(remote), false)
                : new NewAttachment(
                        "", "backend", wanted, new Wanted.None(), ranges(remote), false);
    }

    static List<Cidr> ranges(String... texts) {
        return List.of(texts).stream().map(Cidr::stored).toList();
    }

    /// Fails unless the call is refused like this.
    ///
    /// @param start of the message
    static void refuses(Code code, String start, Executable call) {
        var failure = assertThrows(Failure.class, call);
        assertEquals(code, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().startsWith(start), failure.getMessage());
    }

    @Override
    public void close() {
        store.close();
    }
}
