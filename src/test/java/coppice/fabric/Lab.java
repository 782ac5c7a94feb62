package coppice.fabric;

import coppice.Wait;
import coppice.base.Cidr;
import coppice.base.Deadline;
import coppice.base.IpAddress;
import coppice.base.RandomText;
import coppice.base.Undo;
import coppice.identity.AccountId;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
import coppice.network.NewMembership;
import coppice.network.NewNic;
import coppice.network.NewRule;
import coppice.network.Nic;
import coppice.network.ServerKey;
import coppice.network.TunnelSettings;
import coppice.network.Tunnels;
import coppice.process.Command;
import coppice.store.Store;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A fabric on a [Ground], with guests that are namespaces too, each with a [Probe]. Closing it leaves nothing behind.
final class Lab implements AutoCloseable {
    private static final int FIRST_PORT = 51_820;

    private final String id = Ground.newId();
    private final Undo end = new Undo();
    private final Ground ground;
    private final Site site;
    private final Store store;
    private final FabricSettings settings;
    private final Map<MemberId, Guest> guests = Collections.synchronizedMap(new LinkedHashMap<>());
    private Networks networks;
    private Fabric fabric;
    private final AtomicInteger slots = new AtomicInteger();
    private final AtomicInteger clients = new AtomicInteger();

    /// What two servers of one host must have each for itself.
    ///
    /// @param prefix of the guests' public addresses
    record Site(Cidr slots, Cidr prefix) {
        static final Site FIRST =
                new Site(Cidr.stored("100.96.0.0/16"), Cidr.stored("2001:db8:77::/64"));
        static final Site SECOND =
                new Site(Cidr.stored("100.97.0.0/16"), Cidr.stored("2001:db8:78::/64"));
    }

    /// A guest: a VM that is a namespace.
    ///
    /// @param end removes it
    record Guest(Nic nic, String name, Probe probe, Undo end) {
        MemberId vm() {
            return nic.vm();
        }

        /// Its private addresses, and then its public one.
        List<IpAddress> addresses() {
            return Stream.concat(Place.privateAddresses(nic), nic.publicIpv6().stream()).toList();
        }

        IpAddress ipv4() {
            return addresses().stream().filter(a -> !a.isV6()).findFirst().orElseThrow();
        }

        IpAddress privateIpv6() {
            return nic.membership().flatMap(Membership::ipv6).orElseThrow();
        }

        IpAddress publicIpv6() {
            return nic.publicIpv6().orElseThrow();
        }
    }

    /// On a ground of its own.
    Lab() {
        this(8192);
    }

    /// On a ground of its own.
    ///
    /// @param connections that one VM may have
    Lab(int connections) {
        this(new Ground(), Site.FIRST, connections, true);
    }

    /// On a ground that others may be on too.
    Lab(Ground ground, Site site) {
        this(ground, site, 8192, false);
    }

    private Lab(Ground ground, Site site, int connections, boolean isOwner) {
        this.ground = ground;
        this.site = site;
        boolean isReady = false;
        try {
            if (isOwner) {
                end.add(ground);
            }
            store = end.add(Store.open(ground.directory().resolve(id + ".db")));
            settings =
                    new FabricSettings(
                            id,
                            site.slots(),
                            Optional.of(site.prefix()),
                            1500,
                            connections,
                            Optional.of(ground.namespace(Ground.HOSTS_NAME)));
            networks = readNetworks();
            end.onFailure(() -> Fabric.remove(settings));
            fabric = startFabric();
            end.onFailure(() -> fabric.close());
            ground.run(
                    Ground.INTERNETS_NAME,
                    "ip route add %s via %s\nip route add %s via %s\n"
                            .formatted(site.prefix(), Ground.HOST_V6, site.slots(), Ground.HOST));
            isReady = true;
        } finally {
            if (!isReady) {
                end.close();
            }
        }
    }

    private Networks readNetworks() {
        var usual = NetworkLimits.USUAL;
        return new Networks(
                store,
                new NetworkLimits(5000, 500, usual.tunnels(), Optional.of(site.prefix())),
                Clock.systemUTC());
    }

    Ground ground() {
        return ground;
    }

    Networks networks() {
        return networks;
    }

    /// Of the networks that there are now: another server has others.
    Tunnels tunnels() {
        return networks.tunnels(
                new TunnelSettings(Optional.of(Ground.HOST.toString()), FIRST_PORT, 64),
                key().publicKey());
    }

    Fabric fabric() {
        return fabric;
    }

    FabricSettings settings() {
        return settings;
    }

    List<Guest> guests() {
        synchronized (guests) {
            return List.copyOf(guests.values());
        }
    }

    /// Somebody on the Internet who may get a tunnel.
    TunnelClient client() {
        return end.add(new TunnelClient(ground, clients.incrementAndGet()));
    }

    /// A VM with an interface, plugged in and open.
    Guest guest(AccountId account, Optional<NewMembership> place, NewRule... rules) {
        var guest = closedGuest(account, place, rules);
        fabric.open(guest.vm());
        awaitGateway(guest);
        return guest;
    }

    /// A link that comes up may take its time when the kernel has much else to do.
    private static void awaitGateway(Guest guest) {
        var address = guest.addresses().getFirst();
        boolean isV6 = address.isV6();
        Wait.until(
                Duration.ofSeconds(20),
                () ->
                        guest.probe()
                                        .outcome(
                                                Flow.icmp(
                                                        isV6 ? guest.publicIpv6() : address,
                                                        isV6 ? Fabric.GATEWAY_V6 : Fabric.GATEWAY),
                                                Duration.ofMillis(200))
                                instanceof Flow.Reached,
                () -> "%s does not reach its gateway".formatted(guest.nic()));
    }

    /// The same, but nothing passes its port.
    Guest closedGuest(AccountId account, Optional<NewMembership> place, NewRule... rules) {
        var vm = new MemberId(RandomText.id("vm-"));
        int slot = slots.incrementAndGet();
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
        var name = "%s-%d".formatted(id.substring(0, 4), slot);
        try (var undo = new Undo()) {
            var guest = start(nic, name, undo);
            guests.put(vm, guest);
            undo.keep();
            return guest;
        }
    }

    private Guest start(Nic nic, String name, Undo undo) {
        var guestEnd = new Undo();
        undo.onFailure(guestEnd::close);
        ground.make(name, guestEnd);
        var holder = new Holder.Namespace(ground.namespace(name));
        fabric.plug(nic, holder);
        undo.onFailure(() -> fabric.unplug(nic.vm()));
        ground.run(name, configuration(nic));
        var probe = guestEnd.add(ground.probe(name, "eth0"));
        synchronized (guests) {
            end.onFailure(guestEnd::close);
        }
        return new Guest(nic, name, probe, guestEnd);
    }

    private String configuration(Nic nic) {
        var lines = new ArrayList<String>();
        lines.add("echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad");
        var ranges =
                nic.membership()
                        .flatMap(place -> networks.vpc(nic.account(), place.vpc().text()))
                        .map(vpc -> List.of(vpc.cidr(), vpc.cidrV6()))
                        .orElse(List.of(Cidr.around(Fabric.SOLO, Fabric.SOLO_PREFIX)));
        Place.privateAddresses(nic)
                .forEach(
                        address ->
                                ranges.stream()
                                        .filter(range -> range.contains(address))
                                        .forEach(range -> lines.add(adding(address, range))));
        nic.publicIpv6().ifPresent(address -> lines.add(adding(address, Cidr.of(address))));
        lines.add("ip link set eth0 up");
        lines.add("ip route add default via 192.0.0.1 dev eth0 onlink");
        lines.add("ip route add default via fe80::1 dev eth0");
        return String.join("\n", lines) + "\n";
    }

    private static String adding(IpAddress address, Cidr range) {
        return "ip addr add %s/%d dev eth0%s"
                .formatted(address, range.prefix(), address.isV6() ? " nodad" : "");
    }

    /// Ends a VM as a delete does.
    void leave(Guest guest) {
        guests.remove(guest.vm());
        fabric.unplug(guest.vm());
        networks.leave(guest.nic().account(), guest.vm(), store::change);
        guest.end().close();
    }

    /// Starts a VM anew whose port is gone.
    void plugAgain(Guest guest) {
        fabric.plug(guest.nic(), new Holder.Namespace(ground.namespace(guest.name())));
        ground.run(guest.name(), configuration(guest.nic()));
        fabric.open(guest.vm());
        awaitGateway(guest);
    }

    /// What another server finds and does that is started after this one was killed.
    ///
    /// @param known whom it still wants
    /// @return what was removed
    List<String> restart(List<Guest> known) {
        fabric.close();
        networks = readNetworks();
        fabric = startFabric();
        for (var guest : known) {
            fabric.adopt(guest.nic(), new Holder.Namespace(ground.namespace(guest.name())));
        }
        return fabric.sweep();
    }

    /// The rules of a guest's network, and the connections that are known there.
    String ruleset(Guest guest) {
        return ruleset(Place.of(guest.nic()).name());
    }

    String routes(Guest guest) {
        var namespace = ground.namespace(guest.name());
        return Stream.of("ip route", "ip -6 route", "ip neigh")
                .map(command -> shown(namespace, command.split(" ")))
                .collect(Collectors.joining("\n", guest.nic() + "\n", ""));
    }

    /// The same of a network or a tunnel.
    String ruleset(String place) {
        var namespace = settings.namespace(place);
        return Stream.of("nft list ruleset", "conntrack -L", "conntrack -L -f ipv6", "ip neigh")
                .map(command -> shown(namespace, command.split(" ")))
                .collect(Collectors.joining("\n"));
    }

    /// What a command prints in a namespace.
    static String shown(String namespace, String... command) {
        var line = new ArrayList<>(List.of("nsenter", "--net=" + Script.path(namespace)));
        line.addAll(List.of(command));
        return new Command(line).runOrFail(Deadline.in(Duration.ofSeconds(10)));
    }

    @Override
    public void close() {
        end.close();
    }

    private Fabric startFabric() {
        var end = new WireGuardEnd(key().privateKey(), FIRST_PORT);
        return Fabric.start(settings, networks, end);
    }

    private ServerKey key() {
        return new ServerKey(ground.directory().resolve(id + ".key"));
    }
}
