package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.RandomText;
import coppice.identity.AccountId;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
import coppice.network.NewMembership;
import coppice.network.NewNic;
import coppice.network.NewRule;
import coppice.network.Nic;
import coppice.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// A host of its own in a network namespace, with an Internet beside it in another one, and guests that are namespaces too.
/// Closing it leaves nothing behind.
final class Lab implements AutoCloseable {
    /// Hosts of the Internet are in these ranges, which IANA has given to servers that answer for nobody (AS112, RFC 7534 and 7535), so
    /// that they count as public; they are nowhere but in the lab's namespaces.
    static final IpAddress INTERNET = IpAddress.stored("192.175.48.1");

    static final IpAddress INTERNET_V6 = IpAddress.stored("2620:4f:8000::1");

    /// Of the guests' public addresses.
    static final Cidr PREFIX = Cidr.stored("2001:db8:77::/64");

    private static final Cidr SLOTS = Cidr.stored("100.96.0.0/16");

    private final String id = HexFormat.of().formatHex(RandomText.bytes(4));
    private final Path directory;
    private final Store store;
    private final Networks networks;
    private final FabricSettings settings;
    private final Fabric fabric;
    private final List<String> namespaces = new ArrayList<>();
    private int slots;
    private final List<MemberId> guests = new ArrayList<>();

    /// A guest: a VM that is a namespace.
    record Guest(Nic nic, String namespace) {
        IpAddress ipv4() {
            return nic.membership().flatMap(Membership::ipv4).orElse(Fabric.SOLO);
        }
    }

    Lab() {
        try {
            directory = Files.createTempDirectory("lab");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        store = Store.open(directory.resolve("lab.db"));
        var usual = NetworkLimits.USUAL;
        networks =
                new Networks(
                        store,
                        new NetworkLimits(5000, 500, usual.tunnels(), Optional.of(PREFIX)),
                        Clock.systemUTC());
        settings =
                new FabricSettings(id, SLOTS, Optional.of(PREFIX), 1500, Optional.of(make("host")));
        make("internet");
        run(
                "host",
                """
                echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
                ip link add net0 type veth peer name eth0 netns INTERNET
                ip addr add 192.175.48.254/24 dev net0
                ip addr add 2620:4f:8000::fe/48 dev net0 nodad
                ip link set net0 up
                """
                        .replace("INTERNET", name("internet")));
        run(
                "internet",
                """
                ip addr add 192.175.48.1/24 dev eth0
                ip addr add 2620:4f:8000::1/48 dev eth0 nodad
                ip link set eth0 up
                ip route add 2001:db8:77::/64 via 2620:4f:8000::fe
                """);
        fabric = Fabric.start(settings, networks);
    }

    Networks networks() {
        return networks;
    }

    Fabric fabric() {
        return fabric;
    }

    FabricSettings settings() {
        return settings;
    }

    String name(String of) {
        return "lab-%s-%s".formatted(id, of);
    }

    private String make(String of) {
        var name = name(of);
        new Script(Optional.empty())
                .here("ip netns add %s\nip -n %s link set lo up\n".formatted(name, name));
        namespaces.add(name);
        return name;
    }

    void run(String in, String lines) {
        new Script(Optional.empty()).in(name(in), lines);
    }

    /// A VM with an interface, plugged in and open.
    Guest guest(AccountId account, Optional<NewMembership> place, NewRule... rules) {
        var vm = new MemberId(RandomText.id("vm-"));
        int slot = ++slots;
        var nic =
                networks.join(
                                account,
                                vm,
                                slot,
                                new NewNic(place, List.of(rules)),
                                write -> {
                                    store.change(write);
                                    return true;
                                })
                        .nic();
        var namespace = make("g" + slot);
        fabric.plug(nic, new Holder.Namespace(namespace));
        guests.add(vm);
        var lines = new StringBuilder("echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad\n");
        nic.membership()
                .ifPresentOrElse(
                        membership -> {
                            membership.ipv4().ifPresent(a -> lines.append(address(a, 24)));
                            membership.ipv6().ifPresent(a -> lines.append(address(a, 64)));
                        },
                        () -> lines.append(address(Fabric.SOLO, 29)));
        nic.publicIpv6().ifPresent(a -> lines.append(address(a, 128)));
        lines.append(
                """
                ip link set eth0 up
                ip route add default via 192.0.0.1 dev eth0 onlink
                ip route add default via fe80::1 dev eth0
                """);
        run("g" + slot, lines.toString());
        fabric.open(vm);
        return new Guest(nic, namespace);
    }

    private static String address(IpAddress address, int prefix) {
        return "ip addr add %s/%d dev eth0%s\n"
                .formatted(address, prefix, address.isV6() ? " nodad" : "");
    }

    @Override
    public void close() throws IOException {
        guests.forEach(fabric::unplug);
        Fabric.remove(settings);
        for (var name : namespaces) {
            new Script(Optional.empty()).here("ip netns del %s\n".formatted(name));
        }
        store.close();
        try (var files = Files.walk(directory)) {
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        }
    }
}
