package coppice.fabric;

import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.network.VpcId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Connections with whoever is behind tunnels.
final class TunnelTrials {
    private static final List<IpAddress> NOBODYS =
            Stream.of("172.31.9.9", "198.51.100.7", "fd00:dead::9").map(IpAddress::stored).toList();

    private final Random random;
    private final Lab lab;
    private final List<Guest> guests;
    private final List<TunnelClient> clients;
    private final List<Seat> seats;
    private final BiFunction<IpAddress, IpAddress, Flow> flow;

    /// The addresses that a client has without being given them.
    private final Map<TunnelClient, Set<IpAddress>> spoofed = new HashMap<>();

    /// @param flow one between two addresses
    TunnelTrials(
            Random random,
            Lab lab,
            RandomTunnels tunnels,
            BiFunction<IpAddress, IpAddress, Flow> flow) {
        this.random = random;
        this.lab = lab;
        this.guests = lab.guests();
        this.clients = tunnels.clients();
        this.seats = tunnels.seats();
        this.flow = flow;
        tunnels.tellGuests();
        for (var client : clients) {
            var own = seats.stream().filter(seat -> seat.client() == client).toList();
            spoofed.put(client, spoofed(own));
            client.have(own.stream().flatMap(Seat::ranges).toList(), spoofed.get(client));
        }
    }

    private Set<IpAddress> spoofed(List<Seat> own) {
        var addresses = new HashSet<>(NOBODYS);
        addresses.add(Ground.INTERNET);
        addresses.add(lab.settings().platform());
        any(guests).addresses().forEach(addresses::add);
        for (var seat : own) {
            seat.own().forEach(end -> addresses.add(end.address()));
            addresses.add(seat.attachment().cidr().last().previous());
        }
        var other = any(clients);
        seats.stream()
                .filter(seat -> seat.client() == other)
                .flatMap(Seat::all)
                .flatMap(end -> Stream.of(end.address(), end.inner()))
                .forEach(addresses::add);
        own.stream()
                .flatMap(seat -> Stream.concat(seat.all(), seat.own()))
                .forEach(end -> addresses.remove(end.inner()));
        addresses.removeIf(
                address ->
                        own.stream()
                                .anyMatch(
                                        seat -> seat.ranges().anyMatch(r -> r.contains(address))));
        return addresses;
    }

    Optional<Trial> next() {
        if (seats.isEmpty()) {
            return Optional.empty();
        }
        int kind = random.nextInt(100);
        var seat = any(seats);
        if (kind < 30) {
            return fromBehind(seat);
        } else if (kind < 60) {
            return toBehind(seat);
        } else if (kind < 70) {
            return between(seat);
        } else if (kind < 82) {
            return spoofing(seat);
        } else if (kind < 92) {
            return straying(any(clients));
        }
        return seeking(any(guests));
    }

    private Optional<Trial> fromBehind(Seat seat) {
        return anyMember(seat)
                .flatMap(
                        guest ->
                                pair(seat.all().toList(), atHome(guest))
                                        .filter(pair -> !isSpoofed(seat, pair.to().address()))
                                        .map(
                                                pair ->
                                                        trial(
                                                                Trial.Kind.FROM_TUNNEL,
                                                                seat.client().probe(),
                                                                guest.probe(),
                                                                pair)));
    }

    private Optional<Trial> toBehind(Seat seat) {
        return anyMember(seat)
                .flatMap(
                        guest ->
                                pair(atHome(guest), seat.all().toList())
                                        .filter(pair -> !isSpoofed(seat, pair.from().address()))
                                        .map(
                                                pair ->
                                                        trial(
                                                                Trial.Kind.TO_TUNNEL,
                                                                guest.probe(),
                                                                seat.client().probe(),
                                                                pair)));
    }

    /// Only what is in the network's own range is found without a route.
    private Optional<Trial> between(Seat seat) {
        var others =
                seats.stream()
                        .filter(other -> other.client() != seat.client())
                        .filter(other -> vpc(other).equals(vpc(seat)))
                        .toList();
        if (others.isEmpty()) {
            return Optional.empty();
        }
        var other = any(others);
        return pair(near(seat), near(other))
                .filter(pair -> !isSpoofed(seat, pair.to().address()))
                .filter(pair -> !isSpoofed(other, pair.from().address()))
                .map(
                        pair ->
                                trial(
                                        Trial.Kind.BETWEEN_TUNNELS,
                                        seat.client().probe(),
                                        other.client().probe(),
                                        pair));
    }

    private static List<End.BehindTunnel> near(Seat seat) {
        return Stream.concat(seat.own(), seat.inside()).toList();
    }

    /// As somebody that it is not in this network.
    private Optional<Trial> spoofing(Seat seat) {
        var granted = seat.all().map(End.BehindTunnel::inner).collect(Collectors.toSet());
        var sources =
                Stream.concat(
                                spoofed.get(seat.client()).stream(),
                                seats.stream()
                                        .filter(other -> other.client() == seat.client())
                                        .flatMap(Seat::outside)
                                        .map(End.BehindTunnel::inner))
                        .filter(address -> !granted.contains(address))
                        .filter(address -> !isExitFor(seat, address))
                        .map(address -> new End.BehindTunnel(seat.tunnel(), address, address))
                        .toList();
        return anyMember(seat)
                .flatMap(
                        guest ->
                                pair(sources, atHome(guest))
                                        .filter(pair -> !isSpoofed(seat, pair.to().address()))
                                        .map(
                                                pair ->
                                                        trial(
                                                                Trial.Kind.NEVER_BY_TUNNEL,
                                                                seat.client().probe(),
                                                                guest.probe(),
                                                                pair)));
    }

    /// Behind an exit is everything that is not here, so it may say that it is that.
    private boolean isExitFor(Seat seat, IpAddress address) {
        var attachment = seat.attachment();
        return attachment.isExit()
                && attachment.ranges().noneMatch(range -> range.contains(address))
                && !lab.settings().slots().contains(address)
                && lab.settings().ipv6().filter(range -> range.contains(address)).isEmpty();
    }

    /// To where its tunnel, or none, does not lead.
    private Optional<Trial> straying(TunnelClient client) {
        var own = seats.stream().filter(seat -> seat.client() == client).toList();
        var sources = own.isEmpty() ? clientless(client) : own.stream().flatMap(Seat::all).toList();
        var guest = any(guests);
        var destinations = new ArrayList<IpAddress>(guest.addresses());
        destinations.addAll(
                List.of(
                        guest.publicIpv6(),
                        Ground.INTERNET,
                        Ground.INTERNET_V6,
                        Ground.HOST,
                        Ground.METADATA,
                        Fabric.GATEWAY,
                        lab.settings().platform(),
                        lab.settings().slot(guest.nic().slot())));
        destinations.removeIf(
                to ->
                        spoofed.get(client).contains(to)
                                || own.stream()
                                        .flatMap(seat -> seat.attachment().ranges())
                                        .anyMatch(range -> range.contains(to)));
        return pair(sources, destinations.stream().map(End.Outside::new).toList())
                .map(
                        pair ->
                                trial(
                                        Trial.Kind.NEVER_BY_TUNNEL,
                                        client.probe(),
                                        guest.probe(),
                                        pair));
    }

    /// One without a place, or without a tunnel, still has its last addresses.
    private List<End.Outside> clientless(TunnelClient client) {
        return spoofed.get(client).stream().map(End.Outside::new).toList();
    }

    /// Whether somebody behind a tunnel has this address where a VM is.
    boolean isBehindOne(Guest guest, IpAddress address) {
        return seats.stream()
                .filter(seat -> guest.nic().isIn(vpc(seat)))
                .anyMatch(
                        seat ->
                                seat.all().anyMatch(end -> end.address().equals(address))
                                        || seat.ranges()
                                                .anyMatch(range -> range.contains(address)));
    }

    /// To behind a tunnel that is in another network.
    private Optional<Trial> seeking(Guest guest) {
        var seat = any(seats);
        var beside =
                guests.stream()
                        .filter(other -> Place.of(other.nic()).equals(Place.of(guest.nic())))
                        .flatMap(other -> other.addresses().stream());
        var behind =
                seats.stream()
                        .filter(other -> guest.nic().isIn(vpc(other)))
                        .flatMap(Seat::all)
                        .map(End.BehindTunnel::address);
        var known = Stream.concat(beside, behind).collect(Collectors.toSet());
        var strangers =
                Stream.concat(
                                seat.all().map(End.BehindTunnel::address),
                                Stream.of(seat.tunnel().clientV4(), seat.tunnel().clientV6()))
                        .filter(address -> !known.contains(address))
                        .filter(address -> !isExitOfAny(guest, address))
                        .map(End.Outside::new)
                        .toList();
        return pair(atHome(guest), strangers)
                .map(
                        pair ->
                                trial(
                                        Trial.Kind.NEVER_BY_TUNNEL,
                                        guest.probe(),
                                        seat.client().probe(),
                                        pair));
    }

    private boolean isExitOfAny(Guest guest, IpAddress address) {
        return seats.stream()
                .filter(seat -> guest.nic().isIn(vpc(seat)))
                .anyMatch(seat -> seat.ranges().anyMatch(range -> range.contains(address)));
    }

    private boolean isSpoofed(Seat seat, IpAddress address) {
        return spoofed.get(seat.client()).contains(address);
    }

    private static VpcId vpc(Seat seat) {
        return seat.attachment().vpc();
    }

    private Optional<Guest> anyMember(Seat seat) {
        var members = guests.stream().filter(guest -> guest.nic().isIn(vpc(seat))).toList();
        return members.isEmpty() ? Optional.empty() : Optional.of(any(members));
    }

    /// Its public address is not of the networks that tunnels lead to.
    private static List<End.AtVm> atHome(Guest guest) {
        return Place.privateAddresses(guest.nic())
                .map(address -> new End.AtVm(guest.nic(), address))
                .toList();
    }

    private record Pair(End from, End to) {}

    private Optional<Pair> pair(List<? extends End> from, List<? extends End> to) {
        var pairs =
                from.stream()
                        .flatMap(
                                a ->
                                        to.stream()
                                                .filter(b -> isOneFamily(a, b))
                                                .map(b -> new Pair(a, b)))
                        .toList();
        return pairs.isEmpty() ? Optional.empty() : Optional.of(any(pairs));
    }

    private static boolean isOneFamily(End one, End other) {
        return one.address().isV6() == other.address().isV6();
    }

    private Trial trial(Trial.Kind kind, Probe prober, Probe listener, Pair pair) {
        return new Trial(
                kind,
                flow.apply(pair.from().inner(), pair.to().address()),
                prober,
                Optional.of(listener),
                pair.from(),
                pair.to());
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
