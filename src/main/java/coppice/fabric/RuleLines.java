package coppice.fabric;

import coppice.base.Cidr;
import coppice.network.AccountNetworks;
import coppice.network.Attachment;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.Tunnel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Firewall rules as rules of nftables, for one segment: each is tried on a connection as it was opened, whichever way a packet of it goes.
///
/// Who somebody is, is read from the address: ports let no other through. A rule whose end cannot be in the segment is left out. Those
/// that name a VM of the segment stand in chains of their own, so that a packet meets few that are not about it.
final class RuleLines {
    private final Place place;
    private final AccountNetworks networks;
    private final Public open;
    private final Map<Object, Ranges> known = new HashMap<>();
    private final Map<Side, End> ends = new HashMap<>();
    private final Map<Boolean, Ranges> locals = new HashMap<>();

    /// A rule of nftables.
    record Line(String chain, String text) {}

    /// What an end says of who it is, for one family.
    ///
    /// @param who without port and protocol
    private record Side(Matcher who, boolean isV6) {}

    /// Who that is as packets show it here.
    ///
    /// @param isHere whether it can be in this segment
    /// @param from the words for one that opened a connection
    /// @param to the words for one that it was opened to
    private record End(boolean isNobody, boolean isHere, String from, String to) {
        static final End NOBODY = new End(true, false, "", "");
    }

    /// The chain for connections that no chain of a VM is for.
    static final String OTHERS = "others";

    RuleLines(Place place, AccountNetworks networks, Public open) {
        this.place = place;
        this.networks = networks;
        this.open = open;
    }

    static String from(Nic nic) {
        return "from_" + nic.slot();
    }

    static String to(Nic nic) {
        return "to_" + nic.slot();
    }

    /// What permits a connection by this rule. None if neither end can be here. A rule for everybody is the same text in many
    /// segments, which remember it.
    ///
    /// @param verdict what follows when one matches
    List<Line> of(Rule rule, String verdict) {
        return Stream.of(false, true)
                .flatMap(isV6 -> lines(rule, isV6))
                .map(text -> new Line(chain(rule), (text + verdict).intern()))
                .toList();
    }

    /// Whether any of the rules is of use here.
    boolean isOfUse() {
        return networks.rules().stream()
                .anyMatch(rule -> line(rule, false).isPresent() || line(rule, true).isPresent());
    }

    private String chain(Rule rule) {
        return attached(rule.source())
                .map(RuleLines::from)
                .or(() -> attached(rule.destination()).map(RuleLines::to))
                .or(() -> here(rule.source().vm()).map(RuleLines::from))
                .or(() -> here(rule.destination().vm()).map(RuleLines::to))
                .orElse(OTHERS);
    }

    private Optional<Nic> here(Optional<MemberId> vm) {
        return vm.flatMap(networks::nic).filter(place::holds);
    }

    /// What is true of the packets of connections that were opened through a tunnel, whichever way they go.
    static Stream<String> comingFrom(Tunnel tunnel) {
        return both(tunnel, "original", "reply");
    }

    /// What is true of the packets of connections that were opened to behind a tunnel.
    static Stream<String> goingTo(Tunnel tunnel) {
        return both(tunnel, "reply", "original");
    }

    private static Stream<String> both(Tunnel tunnel, String coming, String going) {
        int mark = Mouth.mark(tunnel);
        return Stream.of(
                "ct direction %s meta mark and 0xffff0000 == 0x%x0000 ".formatted(coming, mark),
                "ct direction %s meta mark and 0xffff == 0x%x ".formatted(going, mark));
    }

    static String from(Tunnel tunnel) {
        return "from_tn_" + tunnel.number();
    }

    static String to(Tunnel tunnel) {
        return "to_tn_" + tunnel.number();
    }

    /// A tunnel that an end names and that is attached here.
    private Optional<Tunnel> attached(Matcher end) {
        return place instanceof Place.InVpc(var vpc)
                ? end.tunnel()
                        .map(networks.tunnels()::get)
                        .filter(tunnel -> tunnel.attachment(vpc).isPresent())
                : Optional.empty();
    }

    /// One, or two where the direction of a packet says which end it comes from.
    private Stream<String> lines(Rule rule, boolean isV6) {
        var line = line(rule, isV6);
        var destination = attached(rule.destination());
        return attached(rule.source()).isPresent() && destination.isPresent()
                ? line.stream().flatMap(text -> goingTo(destination.get()).map(c -> c + text))
                : line.stream();
    }

    private Optional<String> line(Rule rule, boolean isV6) {
        if (!canBeHere(rule.source()) && !canBeHere(rule.destination())) {
            return Optional.empty();
        }
        var from = end(rule.source(), isV6);
        if (from.isNobody()) {
            return Optional.empty();
        }
        var to = end(rule.destination(), isV6);
        if (to.isNobody() || !from.isHere() && !to.isHere()) {
            return Optional.empty();
        }
        return protocol(rule, isV6)
                .map(
                        protocol ->
                                (isV6 ? "meta nfproto ipv6 " : "meta nfproto ipv4 ")
                                        + protocol
                                        + port("src", rule.source())
                                        + port("dst", rule.destination())
                                        + from.from()
                                        + to.to());
    }

    /// Most rules of an account name the same few.
    private End end(Matcher matcher, boolean isV6) {
        return ends.computeIfAbsent(new Side(matcher.who(), isV6), this::find);
    }

    private End find(Side side) {
        var who = side.who();
        var ranges = addresses(who, side.isV6());
        if (ranges.isEmpty()) {
            return End.NOBODY;
        }
        boolean isHere = attached(who).isPresent() || !ranges.and(local(side.isV6())).isEmpty();
        return new End(
                false,
                isHere,
                words("saddr", who, ranges, side.isV6()),
                words("daddr", who, ranges, side.isV6()));
    }

    /// What may be here by its address.
    private Ranges local(boolean isV6) {
        return locals.computeIfAbsent(
                isV6, _ -> known(place, place.nics(networks), isV6).plus(behindTunnels(isV6)));
    }

    /// What rules may mean that say nothing but an address.
    private Ranges behindTunnels(boolean isV6) {
        if (!(place instanceof Place.InVpc(var vpc))) {
            return Ranges.NONE;
        }
        var places = networks.tunnelsOf(vpc).flatMap(t -> t.attachment(vpc).stream()).toList();
        return places.stream().anyMatch(Attachment::isExit)
                ? Ranges.all(isV6)
                : Ranges.of(
                        places.stream()
                                .flatMap(
                                        a ->
                                                Stream.concat(
                                                        a.remote().stream(),
                                                        a.addresses().map(Cidr::of)))
                                .filter(cidr -> cidr.isV6() == isV6)
                                .toList());
    }

    /// A quick answer for most rules of an account with many networks.
    private boolean canBeHere(Matcher end) {
        if (end.tunnel().isPresent()) {
            return attached(end).isPresent();
        }
        return end.vm().isPresent()
                ? here(end.vm()).isPresent()
                : end.vpc().isEmpty() || place.equals(new Place.InVpc(end.vpc().get()));
    }

    /// Where an end can be, as far as it says. Behind a tunnel anything can be, and elsewhere nothing that is behind it.
    private Ranges addresses(Matcher end, boolean isV6) {
        if (end.tunnel().isPresent() && attached(end).isEmpty()) {
            return Ranges.NONE;
        }
        var ranges = Ranges.all(isV6);
        if (end.vm().isPresent()) {
            var vm = end.vm().get();
            ranges = ranges.and(known(vm, networks.nic(vm).stream(), isV6));
        }
        if (end.vpc().isPresent()) {
            var vpc = end.vpc().get();
            ranges = ranges.and(known(vpc, networks.members(vpc), isV6));
        }
        if (end.cidr().isPresent()) {
            var cidr = end.cidr().get();
            ranges = cidr.isV6() == isV6 ? ranges.and(Ranges.of(cidr)) : Ranges.NONE;
        }
        return end.isPublic() ? ranges.and(open.of(isV6)) : ranges;
    }

    /// The addresses by which these VMs are known here, remembered by what they are.
    private Ranges known(Object what, Stream<Nic> nics, boolean isV6) {
        return known.computeIfAbsent(
                List.of(what, isV6),
                _ ->
                        Ranges.ofAddresses(
                                nics.flatMap(place::addresses)
                                        .filter(address -> address.isV6() == isV6)));
    }

    /// What the connection must speak; empty if the ends disagree.
    private static Optional<String> protocol(Rule rule, boolean isV6) {
        var source = rule.source().protocol();
        var destination = rule.destination().protocol();
        if (source.isPresent() && destination.isPresent() && !source.equals(destination)) {
            return Optional.empty();
        }
        return Optional.of(
                source.or(() -> destination)
                        .map(protocol -> "meta l4proto " + word(protocol, isV6) + " ")
                        .orElse(""));
    }

    private static String word(Protocol protocol, boolean isV6) {
        return switch (protocol) {
            case TCP, UDP -> protocol.word();
            case ICMP -> isV6 ? "ipv6-icmp" : "icmp";
        };
    }

    private static String port(String which, Matcher end) {
        return end.port().map(port -> "ct original proto-" + which + " " + port + " ").orElse("");
    }

    private String words(String which, Matcher end, Ranges ranges, boolean isV6) {
        var key = "ct original %s %s ".formatted(isV6 ? "ip6" : "ip", which);
        if (ranges.equals(open.of(isV6)) && end.isPublic()) {
            return "%s@public%d ".formatted(key, isV6 ? 6 : 4);
        }
        if (ranges.equals(Ranges.all(isV6))) {
            return "";
        }
        return key + (ranges.all().size() == 1 ? ranges + " " : "{ " + ranges.spelled() + " } ");
    }
}
