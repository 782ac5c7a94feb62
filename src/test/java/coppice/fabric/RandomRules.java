package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.network.AccountNetworks;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.NewRule;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// Rules of every kind, about what an account has and about others.
///
/// @param strangers addresses that are others'
record RandomRules(Random random, List<IpAddress> strangers) {
    static final List<Integer> SOURCE_PORTS = List.of(40001, 40002, 40003);
    static final List<Integer> PORTS = List.of(22, 25, 80, 443, 587);

    private static final List<Cidr> WIDE = List.of(Cidr.stored("0.0.0.0/0"), Cidr.stored("::/0"));
    private static final List<Integer> SHORTER = List.of(0, 1, 3, 4, 8, 16);

    /// Whom an end of a rule means.
    private record Who(
            Optional<MemberId> vm,
            Optional<VpcId> vpc,
            Optional<TunnelId> tunnel,
            Optional<Cidr> cidr,
            boolean isPublic) {
        static final Who BARE =
                new Who(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        false);
    }

    /// One whose ends both say who they are.
    NewRule rule(AccountNetworks networks) {
        return rule(who(networks), who(networks));
    }

    /// One of which an end is bare, for the create of a VM; or both, for that of a network.
    NewRule inline(AccountNetworks networks, boolean mayHaveTwo) {
        return switch (random.nextInt(mayHaveTwo ? 3 : 2)) {
            case 0 -> rule(Who.BARE, who(networks));
            case 1 -> rule(who(networks), Who.BARE);
            default -> rule(Who.BARE, Who.BARE);
        };
    }

    private NewRule rule(Who source, Who destination) {
        return new NewRule(
                end(source, SOURCE_PORTS, 8), end(destination, PORTS, 3), Optional.empty());
    }

    /// @param rarity of saying something about how it speaks
    private Matcher end(Who who, List<Integer> ports, int rarity) {
        Optional<Protocol> protocol =
                random.nextInt(rarity) == 0
                        ? Optional.of(any(List.of(Protocol.values())))
                        : Optional.empty();
        var port =
                protocol.filter(Protocol::hasPorts)
                        .filter(_ -> random.nextInt(3) != 0)
                        .map(_ -> any(ports));
        return new Matcher(
                who.vm(), who.vpc(), who.tunnel(), who.cidr(), who.isPublic(), port, protocol);
    }

    private Who who(AccountNetworks networks) {
        var tunnels = List.copyOf(networks.tunnels().keySet());
        int kind = random.nextInt(tunnels.isEmpty() ? 9 : 12);
        var tunnel = kind > 8 ? Optional.of(any(tunnels)) : Optional.<TunnelId>empty();
        var vm =
                kind < 2 && !networks.nics().isEmpty()
                        ? Optional.of(any(List.copyOf(networks.nics().keySet())))
                        : Optional.<MemberId>empty();
        var vpc =
                kind > 1 && kind < 4 || random.nextInt(12) == 0
                        ? Optional.of(any(List.copyOf(networks.vpcs().keySet())))
                        : Optional.<VpcId>empty();
        boolean isPublic = vm.isEmpty() && vpc.isEmpty() && (kind == 4 || kind == 5);
        boolean isNobody = vm.isEmpty() && vpc.isEmpty() && tunnel.isEmpty() && !isPublic;
        var cidr =
                isNobody || random.nextInt(5) == 0
                        ? Optional.of(range(networks))
                        : Optional.<Cidr>empty();
        return new Who(vm, vpc, tunnel, cidr, isPublic);
    }

    private Cidr range(AccountNetworks networks) {
        return switch (random.nextInt(7)) {
            case 0, 1 -> any(WIDE);
            case 2 -> {
                var vpc = any(List.copyOf(networks.vpcs().values()));
                yield random.nextBoolean() ? vpc.cidr() : vpc.cidrV6();
            }
            case 3 -> around(any(strangers));
            default -> {
                var addresses = new ArrayList<>(strangers);
                for (Nic nic : networks.nics().values()) {
                    Place.privateAddresses(nic).forEach(addresses::add);
                    nic.publicIpv6().ifPresent(addresses::add);
                }
                for (Tunnel tunnel : networks.tunnels().values()) {
                    for (var attachment : tunnel.attachments()) {
                        attachment.addresses().forEach(addresses::add);
                        attachment.remote().forEach(range -> addresses.add(range.first().plus(1)));
                    }
                }
                yield around(any(addresses));
            }
        };
    }

    /// An address, or a few of its neighbours with it.
    private Cidr around(IpAddress address) {
        return Cidr.around(address, address.bits() - any(SHORTER));
    }

    <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
