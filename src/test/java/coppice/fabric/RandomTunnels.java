package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.NewAttachment;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import coppice.network.Vpc;
import coppice.network.Wanted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Tunnels of several accounts, at random, and their clients, which are the same all the time.
final class RandomTunnels {
    private static final int CLIENTS = 5;
    private static final int CHANGED = 3;
    private static final List<Cidr> ROUTES =
            Stream.of("10.0.0.0/8", "192.168.0.0/16", "fd00::/8").map(Cidr::stored).toList();

    private final Random random;
    private final Lab lab;
    private final List<AccountId> accounts;

    /// Absent: of none at the moment.
    private final Map<TunnelClient, Optional<Held>> clients = new LinkedHashMap<>();

    private final Map<String, List<Seat>> told = new HashMap<>();

    private record Held(AccountId account, TunnelId tunnel) {}

    RandomTunnels(Random random, Lab lab, List<AccountId> accounts) {
        this.random = random;
        this.lab = lab;
        this.accounts = accounts;
        for (int i = 0; i < CLIENTS; i++) {
            var client = lab.client();
            clients.put(client, Optional.empty());
            create(client, accounts.get(i % accounts.size()));
        }
    }

    List<TunnelClient> clients() {
        return List.copyOf(clients.keySet());
    }

    /// Of a client that has one now.
    Optional<Tunnel> tunnel(TunnelClient client) {
        return clients.get(client)
                .map(held -> lab.networks().of(held.account()).tunnels().get(held.tunnel()));
    }

    List<Seat> seats() {
        return clients().stream()
                .flatMap(
                        client ->
                                tunnel(client).stream().flatMap(tunnel -> Seat.of(client, tunnel)))
                .toList();
    }

    /// Some of them are attached, detached, deleted or made, or have another key.
    void change() {
        var all = new ArrayList<>(clients());
        for (int i = 0; i < CHANGED; i++) {
            change(all.remove(random.nextInt(all.size())));
        }
    }

    private void change(TunnelClient client) {
        var tunnel = tunnel(client);
        if (tunnel.isEmpty()) {
            create(client, any(accounts));
            return;
        }
        switch (random.nextInt(6)) {
            case 0 -> delete(client, tunnel.get());
            case 1 -> {
                delete(client, tunnel.get());
                create(client, any(accounts));
            }
            case 2 -> rotateKey(client, tunnel.get());
            case 3 -> attach(tunnel.get());
            default -> {
                if (tunnel.get().attachments().isEmpty()) {
                    attach(tunnel.get());
                } else {
                    detach(tunnel.get());
                }
            }
        }
    }

    private void create(TunnelClient client, AccountId account) {
        var places = new ArrayList<NewAttachment>();
        var networks = lab.networks().of(account);
        var taken = new ArrayList<Vpc>();
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            free(networks, taken)
                    .ifPresent(
                            vpc -> {
                                taken.add(vpc);
                                places.add(attachment(networks, vpc));
                            });
        }
        var issued = Given.tunnel(lab, account, ROUTES, places);
        var tunnel = issued.tunnel();
        clients.put(client, Optional.of(new Held(account, tunnel.id())));
        client.dial(tunnel, lab.tunnels().endpoint(tunnel), issued.privateKey().orElseThrow());
    }

    private void delete(TunnelClient client, Tunnel tunnel) {
        lab.tunnels().delete(tunnel.account(), tunnel.id().text());
        clients.put(client, Optional.empty());
    }

    private void rotateKey(TunnelClient client, Tunnel tunnel) {
        var issued =
                lab.tunnels().rotateKey(tunnel.account(), tunnel.id().text(), Optional.empty());
        client.dial(tunnel, lab.tunnels().endpoint(tunnel), issued.privateKey().orElseThrow());
    }

    private void attach(Tunnel tunnel) {
        var networks = lab.networks().of(tunnel.account());
        var taken = tunnel.attachments().stream().map(a -> networks.vpcs().get(a.vpc())).toList();
        free(networks, taken)
                .ifPresent(
                        vpc ->
                                lab.tunnels()
                                        .attach(
                                                tunnel.account(),
                                                tunnel.id().text(),
                                                attachment(networks, vpc)));
    }

    private void detach(Tunnel tunnel) {
        var vpc = any(tunnel.attachments()).vpc().text();
        lab.tunnels().detach(tunnel.account(), tunnel.id().text(), vpc);
    }

    /// A network that a tunnel can have beside those.
    private Optional<Vpc> free(AccountNetworks networks, List<Vpc> taken) {
        var free =
                networks.vpcs().values().stream()
                        .filter(vpc -> taken.stream().noneMatch(other -> overlap(vpc, other)))
                        .toList();
        return free.isEmpty() ? Optional.empty() : Optional.of(any(free));
    }

    private static boolean overlap(Vpc one, Vpc other) {
        return one.cidr().overlaps(other.cidr()) || one.cidrV6().overlaps(other.cidrV6());
    }

    private NewAttachment attachment(AccountNetworks networks, Vpc vpc) {
        int kind = random.nextInt(12);
        var none = new Wanted.None();
        var any = new Wanted.Any();
        return new NewAttachment(
                "",
                vpc.id().text(),
                kind == 0 ? none : any,
                kind == 1 ? none : any,
                remote(networks, vpc),
                random.nextInt(3) == 0);
    }

    /// Inside of the network's range and outside of it. At home, many have the same one.
    private List<Cidr> remote(AccountNetworks networks, Vpc vpc) {
        var granted =
                networks.tunnelsOf(vpc.id())
                        .flatMap(tunnel -> tunnel.attachment(vpc.id()).stream())
                        .flatMap(attachment -> attachment.remote().stream())
                        .toList();
        var choices =
                List.of(
                        inside(vpc),
                        numbered(
                                i -> Cidr.around(IpAddress.stored("172.20.%d.0".formatted(i)), 24)),
                        numbered(
                                i ->
                                        Cidr.around(
                                                IpAddress.stored("fd00:cc:%d::".formatted(i)),
                                                64)));
        return choices.stream()
                .filter(_ -> random.nextInt(3) == 0)
                .flatMap(
                        choice ->
                                choice.stream()
                                        .filter(c -> granted.stream().noneMatch(c::overlaps))
                                        .limit(1))
                .toList();
    }

    /// At the end of the range, where no VM is so far.
    private static List<Cidr> inside(Vpc vpc) {
        return vpc.cidr().prefix() > 24
                ? List.of()
                : IntStream.rangeClosed(1, CLIENTS + 1)
                        .mapToObj(i -> Cidr.around(vpc.cidr().first().plus(256 - 16 * i), 28))
                        .skip(1)
                        .toList();
    }

    private static List<Cidr> numbered(java.util.function.IntFunction<Cidr> range) {
        return IntStream.rangeClosed(0, CLIENTS).mapToObj(range).toList();
    }

    /// What VMs have to know to find whoever is behind tunnels, told to those that do not know it yet. Who had the address of a next hop
    /// before has to be forgotten: packets that go by it are sent to where it was.
    void tellGuests() {
        var seats = seats();
        for (var guest : lab.guests()) {
            var places =
                    seats.stream()
                            .filter(seat -> guest.nic().isIn(seat.attachment().vpc()))
                            .toList();
            if (!places.equals(told.getOrDefault(guest.name(), List.of()))) {
                told.put(guest.name(), places);
                lab.ground().run(guest.name(), written(guest, places));
            }
        }
    }

    private static String written(Lab.Guest guest, List<Seat> places) {
        var hops = places.stream().flatMap(seat -> seat.attachment().addresses());
        return """
               ip route flush proto 77
               ip -6 route flush proto 77
               %sip -batch - <<END
               %sEND
               """
                .formatted(
                        hops.map("ip neigh del %s dev eth0 2>/dev/null || true\n"::formatted)
                                .collect(Collectors.joining()),
                        places.stream()
                                .flatMap(seat -> seat.routes(guest).stream())
                                .collect(Collectors.joining()));
    }

    String story() {
        return clients().stream()
                .map(client -> client + ": " + tunnel(client) + "\n")
                .collect(Collectors.joining());
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
