package coppice.fabric;

import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.network.Nic;
import coppice.network.Protocol;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/// Connections between whoever there is.
final class RandomTrials {
    private final Random random;
    private final Lab lab;
    private final List<Guest> guests;
    private final TunnelTrials tunnels;
    private final Set<String> tried = new HashSet<>();

    RandomTrials(Random random, Lab lab, RandomTunnels tunnels) {
        this.random = random;
        this.lab = lab;
        this.guests = lab.guests();
        this.tunnels = new TunnelTrials(random, lab, tunnels, this::flow);
    }

    /// So many that differ from each other.
    List<Trial> some(int count) {
        var trials = new ArrayList<Trial>();
        while (trials.size() < count) {
            next().filter(trial -> tried.add(trial.flow().toString() + isEcho(trial)))
                    .filter(trial -> tried.add(seen(trial) + isEcho(trial)))
                    .ifPresent(trials::add);
        }
        return trials;
    }

    /// Of two that look the same where they arrive, nobody could tell which one does.
    private static String seen(Trial trial) {
        return "%s at %s"
                .formatted(
                        Flow.of(
                                trial.flow().protocol(),
                                trial.from().address(),
                                trial.flow().sourcePort(),
                                trial.to().inner(),
                                trial.flow().destinationPort()),
                        trial.listener());
    }

    /// Echoes have nothing that could make them differ, but need nothing either.
    private static String isEcho(Trial trial) {
        return trial.flow().protocol() == Protocol.ICMP ? trial.flow().id() : "";
    }

    private Optional<Trial> next() {
        int kind = random.nextInt(155);
        var guest = anyGuest();
        if (kind < 30) {
            return member(guest);
        } else if (kind < 55) {
            return elsewhere(guest);
        } else if (kind < 67) {
            return Optional.of(out(guest));
        } else if (kind < 79) {
            return Optional.of(in(guest));
        } else if (kind < 84) {
            return platform(guest);
        } else if (kind < 87) {
            return names(guest);
        } else if (kind < 100) {
            return never(guest);
        }
        return tunnels.next();
    }

    private Optional<Trial> member(Guest guest) {
        var others =
                guests.stream()
                        .filter(other -> other != guest && place(other).equals(place(guest)))
                        .toList();
        if (others.isEmpty()) {
            return Optional.empty();
        }
        var other = any(others);
        return pair(guest.addresses(), other.addresses())
                .map(
                        pair ->
                                new Trial(
                                        Trial.Kind.MEMBER,
                                        flow(pair.from(), pair.to()),
                                        guest.probe(),
                                        Optional.of(other.probe()),
                                        new End.AtVm(guest.nic(), pair.from()),
                                        new End.AtVm(other.nic(), pair.to())));
    }

    private Optional<Trial> elsewhere(Guest guest) {
        var other = anyGuest();
        return place(other).equals(place(guest))
                ? Optional.empty()
                : Optional.of(
                        new Trial(
                                Trial.Kind.ELSEWHERE,
                                flow(guest.publicIpv6(), other.publicIpv6()),
                                guest.probe(),
                                Optional.of(other.probe()),
                                new End.AtVm(guest.nic(), guest.publicIpv6()),
                                new End.AtVm(other.nic(), other.publicIpv6())));
    }

    private Trial out(Guest guest) {
        var source =
                random.nextBoolean() ? guest.publicIpv6() : v4(guest).orElse(guest.publicIpv6());
        var to = source.isV6() ? Ground.INTERNET_V6 : Ground.INTERNET;
        // Another VM's may have the same ports as the host, so nobody can tell who is not to be
        // heard.
        return new Trial(
                Trial.Kind.OUT,
                flow(source, to),
                guest.probe(),
                source.isV6() ? Optional.of(lab.ground().internet()) : Optional.empty(),
                new End.AtVm(guest.nic(), source),
                new End.Outside(to));
    }

    private Trial in(Guest guest) {
        boolean isHost = random.nextInt(4) == 0;
        var source = isHost ? Ground.HOST_V6 : Ground.INTERNET_V6;
        return new Trial(
                Trial.Kind.IN,
                flow(source, guest.publicIpv6()),
                isHost ? lab.ground().host() : lab.ground().internet(),
                Optional.of(guest.probe()),
                new End.Outside(source),
                new End.AtVm(guest.nic(), guest.publicIpv6()));
    }

    private Optional<Trial> platform(Guest guest) {
        var platform = lab.settings().platform();
        return v4(guest)
                .map(
                        address ->
                                new Trial(
                                        Trial.Kind.PLATFORM,
                                        flow(platform, lab.settings().slot(guest.nic().slot())),
                                        lab.ground().host(),
                                        Optional.of(guest.probe()),
                                        new End.Platform(platform),
                                        new End.AtVm(guest.nic(), address)));
    }

    private Optional<Trial> names(Guest guest) {
        var server = any(List.of(Fabric.GATEWAY, lab.settings().platform()));
        return v4(guest)
                .map(
                        source ->
                                new Trial(
                                        Trial.Kind.NAMES,
                                        Flow.of(
                                                any(List.of(Protocol.TCP, Protocol.UDP)),
                                                source,
                                                any(RandomRules.SOURCE_PORTS),
                                                server,
                                                53),
                                        guest.probe(),
                                        Optional.empty(),
                                        new End.AtVm(guest.nic(), source),
                                        new End.Platform(server)));
    }

    private Optional<Trial> never(Guest guest) {
        if (random.nextInt(5) == 0) {
            return intruding(guest);
        }
        var other = any(guests);
        var forbidden =
                new ArrayList<>(
                        List.of(
                                lab.settings().slot(other.nic().slot()),
                                lab.settings().platform(),
                                lab.settings().hub(),
                                Ground.METADATA,
                                Ground.HOST,
                                Ground.HOST_V6,
                                IpAddress.stored("169.254.0.1"),
                                IpAddress.stored("169.254.0.2")));
        Place.privateAddresses(other.nic())
                .filter(address -> isNobodysBeside(guest.nic(), address))
                .filter(address -> !tunnels.isBehindOne(guest, address))
                .forEach(forbidden::add);
        var to = any(forbidden);
        var source =
                guest.addresses().stream()
                        .filter(address -> address.isV6() == to.isV6())
                        .findFirst();
        return source.map(address -> forbidden(guest, address, to, Optional.of(other)))
                .filter(trial -> trial.flow().destinationPort() != 53)
                .or(() -> leaving(guest));
    }

    /// Not by its public address.
    private Optional<Trial> leaving(Guest guest) {
        return guest.nic()
                .membership()
                .flatMap(membership -> membership.ipv6())
                .map(address -> forbidden(guest, address, Ground.INTERNET_V6, Optional.empty()));
    }

    private Trial forbidden(Guest guest, IpAddress source, IpAddress to, Optional<Guest> other) {
        return new Trial(
                Trial.Kind.NEVER,
                flow(source, to),
                guest.probe(),
                other.filter(g -> g != guest).map(Guest::probe),
                new End.AtVm(guest.nic(), source),
                new End.Outside(to));
    }

    /// From outside to what only the platform reaches, and from the host without being the platform.
    private Optional<Trial> intruding(Guest guest) {
        boolean isHost = random.nextBoolean();
        var source = isHost ? Ground.HOST : Ground.INTERNET;
        var slot = lab.settings().slot(guest.nic().slot());
        return Optional.of(
                        new Trial(
                                Trial.Kind.NEVER,
                                flow(
                                        source,
                                        isHost
                                                ? slot
                                                : any(List.of(slot, guest.addresses().get(0)))),
                                isHost ? lab.ground().host() : lab.ground().internet(),
                                Optional.of(guest.probe()),
                                new End.Outside(source),
                                new End.Outside(slot)))
                .filter(trial -> !trial.flow().destination().isV6());
    }

    private boolean isNobodysBeside(Nic nic, IpAddress address) {
        return guests.stream()
                .filter(guest -> place(guest).equals(Place.of(nic)))
                .flatMap(guest -> guest.addresses().stream())
                .noneMatch(address::equals);
    }

    private record Pair(IpAddress from, IpAddress to) {}

    private Optional<Pair> pair(List<IpAddress> from, List<IpAddress> to) {
        var pairs =
                from.stream()
                        .flatMap(
                                a ->
                                        to.stream()
                                                .filter(b -> a.isV6() == b.isV6())
                                                .map(b -> new Pair(a, b)))
                        .toList();
        return pairs.isEmpty() ? Optional.empty() : Optional.of(any(pairs));
    }

    private Flow flow(IpAddress from, IpAddress to) {
        var protocol =
                any(List.of(Protocol.TCP, Protocol.TCP, Protocol.UDP, Protocol.UDP, Protocol.ICMP));
        return protocol == Protocol.ICMP
                ? Flow.icmp(from, to)
                : Flow.of(
                        protocol,
                        from,
                        any(RandomRules.SOURCE_PORTS),
                        to,
                        any(random.nextInt(4) == 0 ? Ground.PORTS : RandomRules.PORTS));
    }

    private static Place place(Guest guest) {
        return Place.of(guest.nic());
    }

    private static Optional<IpAddress> v4(Guest guest) {
        return Stream.of(guest.addresses())
                .flatMap(List::stream)
                .filter(address -> !address.isV6())
                .findFirst();
    }

    /// The newest one more often: others have to have heard of it.
    private Guest anyGuest() {
        return random.nextInt(4) == 0 ? guests.getLast() : any(guests);
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
