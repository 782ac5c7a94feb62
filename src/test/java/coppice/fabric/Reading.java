package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// The contract of the firewall, read once more by somebody who does not know the program: slowly, bit by bit, from the text that a caller
/// would see.
public final class Reading {
    private static final Set<Integer> MAIL = Set.of(25, 465, 587);

    /// Those of the special ranges that occur in tests.
    private static final List<String> NOT_PUBLIC =
            List.of(
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.168.0.0/16");

    private static final List<String> PUBLIC_V6 =
            List.of("2001:db8:77::/64", "2620:4f:8000::/48", "2001:4:112::/48");

    private Reading() {}

    /// What is known of one end: an empty text is nothing.
    public record Facts(String vm, List<String> vpcs, String tunnel, String address, int port) {

        /// As the account sees it to which the VM belongs.
        static Facts of(End.AtVm end, int port) {
            var vpcs = new ArrayList<String>();
            end.nic().membership().ifPresent(place -> vpcs.add(place.vpc().text()));
            return new Facts(end.nic().vm().text(), vpcs, "", end.address().toString(), port);
        }

        /// As its account sees whoever is behind a tunnel: they are no members.
        static Facts of(End.BehindTunnel end, int port) {
            var tunnel = end.tunnel().id().text();
            return new Facts("", List.of(), tunnel, end.address().toString(), port);
        }

        /// As everybody else does.
        static Facts of(IpAddress address, int port) {
            return new Facts("", List.of(), "", address.toString(), port);
        }
    }

    /// Whether these rules of one account let a connection be opened.
    public static boolean permits(
            List<Rule> rules, Facts source, Facts destination, Protocol protocol) {
        if (protocol == Protocol.TCP
                && MAIL.contains(destination.port())
                && isPublic(destination.address())) {
            return false;
        }
        for (var rule : rules) {
            if (holds(rule.source(), source, protocol)
                    && holds(rule.destination(), destination, protocol)) {
                return true;
            }
        }
        return false;
    }

    private static boolean holds(Matcher stated, Facts facts, Protocol protocol) {
        boolean holds = true;
        for (var vm : stated.vm().map(MemberId::text).stream().toList()) {
            holds &= facts.vm().equals(vm);
        }
        for (var vpc : stated.vpc().map(VpcId::text).stream().toList()) {
            holds &= facts.vpcs().contains(vpc);
        }
        for (var tunnel : stated.tunnel().map(TunnelId::text).stream().toList()) {
            holds &= facts.tunnel().equals(tunnel);
        }
        for (var range : stated.cidr().map(Object::toString).stream().toList()) {
            holds &= isIn(range, facts.address());
        }
        for (var port : stated.port().stream().toList()) {
            holds &= protocol != Protocol.ICMP && facts.port() == port;
        }
        for (var spoken : stated.protocol().stream().toList()) {
            holds &= spoken == protocol;
        }
        return holds && (!stated.isPublic() || isPublic(facts.address()));
    }

    static boolean isPublic(String address) {
        return address.contains(":")
                ? PUBLIC_V6.stream().anyMatch(range -> isIn(range, address))
                : NOT_PUBLIC.stream().noneMatch(range -> isIn(range, address));
    }

    private static boolean isIn(String range, String address) {
        var parts = range.split("/");
        boolean isV6 = address.contains(":");
        if (isV6 != parts[0].contains(":")) {
            return false;
        }
        int ignored = (isV6 ? 128 : 32) - Integer.parseInt(parts[1]);
        return number(parts[0]).shiftRight(ignored).equals(number(address).shiftRight(ignored));
    }

    private static BigInteger number(String address) {
        return address.contains(":") ? v6(address) : digits(address.split("\\."), 10, 8);
    }

    private static BigInteger v6(String address) {
        var halves = address.split("::", -1);
        var head = groups(halves[0]);
        var tail = halves.length == 1 ? List.<String>of() : groups(halves[1]);
        var all = new ArrayList<>(head);
        for (int i = head.size() + tail.size(); i < 8; i++) {
            all.add("0");
        }
        all.addAll(tail);
        return digits(all.toArray(String[]::new), 16, 16);
    }

    private static List<String> groups(String text) {
        return Stream.of(text.split(":")).filter(group -> !group.isEmpty()).toList();
    }

    private static BigInteger digits(String[] texts, int radix, int bits) {
        var number = BigInteger.ZERO;
        for (var text : texts) {
            number = number.shiftLeft(bits).or(new BigInteger(text, radix));
        }
        return number;
    }
}
