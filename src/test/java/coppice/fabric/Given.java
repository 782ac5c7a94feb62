package coppice.fabric;

import coppice.base.Cidr;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.NewAttachment;
import coppice.network.NewMembership;
import coppice.network.NewRule;
import coppice.network.NewTunnel;
import coppice.network.NewVpc;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.Tunnels;
import coppice.network.VpcId;
import coppice.network.Wanted;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What tests start from.
final class Given {
    private Given() {}

    static Matcher vm(Guest guest) {
        return Ends.of(guest.vm());
    }

    static Matcher range(String cidr) {
        return Ends.of(Cidr.stored(cidr));
    }

    /// The same at one port.
    static Matcher at(Matcher end, Protocol protocol, int port) {
        return new Matcher(
                end.vm(),
                end.vpc(),
                end.tunnel(),
                end.cidr(),
                end.isPublic(),
                Optional.of(port),
                Optional.of(protocol));
    }

    /// The same, speaking this.
    static Matcher speaking(Matcher end, Protocol protocol) {
        return new Matcher(
                end.vm(),
                end.vpc(),
                end.tunnel(),
                end.cidr(),
                end.isPublic(),
                Optional.empty(),
                Optional.of(protocol));
    }

    static Rule permitted(Lab lab, AccountId account, Matcher source, Matcher destination) {
        return lab.networks().createRule(account, Ends.rule(source, destination));
    }

    static void everythingIsPermitted(Lab lab, AccountId account) {
        for (var all : List.of("0.0.0.0/0", "::/0")) {
            permitted(lab, account, range(all), range(all));
        }
    }

    static VpcId vpc(Lab lab, AccountId account, String cidr, NewRule... rules) {
        return vpc(lab, account, cidr, Optional.empty(), rules);
    }

    static VpcId vpc(Lab lab, AccountId account, String cidr, Cidr cidrV6) {
        return vpc(lab, account, cidr, Optional.of(cidrV6));
    }

    private static VpcId vpc(
            Lab lab, AccountId account, String cidr, Optional<Cidr> cidrV6, NewRule... rules) {
        return lab.networks()
                .createVpc(
                        account,
                        new NewVpc(
                                Optional.of(Cidr.stored(cidr)),
                                cidrV6,
                                Optional.empty(),
                                Optional.empty(),
                                List.of(rules)))
                .vpc()
                .id();
    }

    static Guest member(Lab lab, AccountId account, VpcId vpc, NewRule... rules) {
        return lab.guest(account, Optional.of(membership(vpc)), rules);
    }

    /// With whichever addresses are free.
    static NewMembership membership(VpcId vpc) {
        var any = new Wanted.Any();
        return new NewMembership("vpcs[0]", vpc, any, any, List.of());
    }

    static Guest alone(Lab lab, AccountId account, NewRule... rules) {
        return lab.guest(account, Optional.empty(), rules);
    }

    /// A tunnel whose key is minted.
    static Tunnels.Issued tunnel(
            Lab lab, AccountId account, List<Cidr> routes, List<NewAttachment> places) {
        var wanted =
                new NewTunnel(Optional.empty(), Optional.empty(), Optional.empty(), routes, places);
        return lab.tunnels().create(account, wanted);
    }

    /// A tunnel with a place in a network, and its client.
    static Seat seat(Lab lab, AccountId account, VpcId vpc, List<Cidr> remote, boolean isExit) {
        var any = new Wanted.Any();
        var place = new NewAttachment("", vpc.text(), any, any, remote, isExit);
        var issued = tunnel(lab, account, NewTunnel.USUAL_ROUTES, List.of(place));
        var tunnel = issued.tunnel();
        var client = lab.client();
        client.dial(tunnel, lab.tunnels().endpoint(tunnel), issued.privateKey().orElseThrow());
        var seat = new Seat(client, tunnel, tunnel.attachments().getFirst());
        client.have(seat.ranges().toList(), List.of());
        return seat;
    }

    /// Tells the VMs of the network what is behind a tunnel.
    static void routes(Lab lab, Seat seat) {
        for (var guest : lab.guests()) {
            if (guest.nic().isIn(seat.attachment().vpc())) {
                var lines = String.join("", seat.routes(guest));
                lab.ground().run(guest.name(), "ip -batch - <<END\n%sEND\n".formatted(lines));
            }
        }
    }

    /// What there is in a namespace. Neighbours come and go by themselves, but for those that are said to stay, and so does what is
    /// counted.
    static String shown(String namespace) {
        return Stream.of(
                        "ip -br link",
                        "ip -4 route",
                        "ip -6 route",
                        "ip neigh show nud permanent",
                        "bridge fdb show state static",
                        "nft list ruleset")
                .map(command -> Lab.shown(namespace, command.split(" ")))
                .collect(Collectors.joining("\n"))
                .replaceAll("(?s)set (asking|connections[46]) \\{.*?\n\t}", "");
    }
}
