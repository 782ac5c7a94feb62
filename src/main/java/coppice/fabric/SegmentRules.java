package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.Firewall;
import coppice.network.Tunnel;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// All that nftables has to know in one segment, as text: a pure function of the model and of what is plugged in.
///
/// Two tables: `bridge port` ([PortRules]), and `inet segment`, where connections are decided about as [Firewall] does. A connection that
/// was let pass carries the *generation* of these rules as its mark, and its next packets pass without another look. Rules that replace
/// these have another generation, so every connection is looked at again: what is still permitted loses nothing, what is not is cut at
/// its next packet. An ICMP error passes with its connection, and lets none pass.
final class SegmentRules {
    /// 0 is the mark of a connection that nobody has decided about.
    static final int GENERATIONS = Integer.MAX_VALUE;

    /// More packets than the resolver answers do not even get to it.
    private static final String QUESTIONS = "1000/second burst 2000 packets";

    private static final String DECISIONS =
            """
              chain decide {
                oifname "up0" ip daddr != @public4 drop
                oifname "up0" ip6 daddr != @public6 drop
                oifname "up0" ip6 saddr != @own6 drop
                iifname "up0" meta nfproto ipv4 ct direction original drop
                iifname "up0" ip6 daddr != @own6 drop
                meta l4proto tcp ct original proto-dst { MAIL } ct original ip daddr @public4 drop
                meta l4proto tcp ct original proto-dst { MAIL } ct original ip6 daddr @public6 drop
            DISPATCH    jump others
              }
            """;

    private static final String DECIDED =
            """
              chain permitted {
                ct state new iifname "br0" add @connections4 { ip saddr ct count over CONNECTIONS } drop
                ct state new iifname "br0" add @connections6 { ip6 saddr ct count over CONNECTIONS } drop
                ct mark set 0xGENERATION accept
              }
              chain forward {
                type filter hook forward priority filter; policy drop;
                iifname "br0" oifname "br0" ip6 hoplimit 255 icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
                ct state invalid drop
                meta mark and ROUTED == ROUTED ct direction original drop
                ct mark 0xGENERATION accept
                iifname "up0" ip saddr PLATFORM accept
                oifname "up0" ip daddr PLATFORM ct direction reply accept
                oifname "up0" ip daddr PLATFORM update @asking { ip saddr limit rate over QUESTIONS } drop
                oifname "up0" ip daddr PLATFORM meta l4proto { tcp, udp } th dport 53 accept
                ct state related drop
                jump decide
              }
            """;

    private final List<Tap> taps;
    private final List<Mouth> mouths;
    private final FabricSettings settings;
    private final Public open;
    private final Map<String, List<String>> users;

    /// What follows when a rule of a user matches.
    static final String VERDICT = "goto permitted";

    /// @param lines for users' rules, by the chain that they stand in
    SegmentRules(
            Map<String, List<String>> lines,
            Collection<Tap> taps,
            Collection<Mouth> mouths,
            FabricSettings settings) {
        this.mouths = List.copyOf(mouths);
        this.taps = List.copyOf(taps);
        this.settings = settings;
        this.open = Public.of(settings.ipv6());
        this.users = Shards.of(lines);
    }

    /// The tables without the rules of users and without what has the generation in it.
    Fixed fixed() {
        var users = users().keySet();
        return new Fixed(
                new PortRules(taps, mouths).text(),
                open(),
                sets(),
                translation() + decisions(users));
    }

    /// @param ports the table `bridge port`
    /// @param open the sets of `inet segment` that are of ranges
    /// @param sets its others
    /// @param chains of `inet segment`
    record Fixed(String ports, String open, String sets, String chains) {}

    /// The chains for users' rules, and their lines.
    Map<String, List<String>> users() {
        return users;
    }

    /// The chains that let a connection pass, or a packet of one that was let pass.
    String decided(int generation) {
        return DECIDED.replace("GENERATION", Integer.toHexString(generation))
                .replace("CONNECTIONS", Integer.toString(settings.connections()))
                .replace("QUESTIONS", QUESTIONS)
                .replace("ROUTED", PortRules.ROUTED)
                .replace("PLATFORM", settings.platform().toString());
    }

    private static Stream<String> addresses(Tap tap, boolean isV6) {
        return Place.of(tap.nic())
                .addresses(tap.nic())
                .filter(address -> address.isV6() == isV6)
                .map(IpAddress::toString);
    }

    private String open() {
        return """
                  set public4 { type ipv4_addr; flags interval; elements = { %s }; }
                  set public6 { type ipv6_addr; flags interval; elements = { %s }; }
                """
                .formatted(open.v4(), open.v6());
    }

    private String sets() {
        return """
                  set own6 { type ipv6_addr; %s }
                  set asking { type ipv4_addr; size 4096; flags dynamic; timeout 10s; }
                  set connections4 { type ipv4_addr; size 4096; flags dynamic; }
                  set connections6 { type ipv6_addr; size 4096; flags dynamic; }
                  map inside { type ipv4_addr : ipv4_addr; %s }
                  map outside { type ipv4_addr : ipv4_addr; %s }
                """
                .formatted(
                        Elements.of(
                                taps.stream()
                                        .flatMap(tap -> tap.nic().publicIpv6().stream())
                                        .map(IpAddress::toString)),
                        Elements.of(taps.stream().flatMap(tap -> slot(tap, true))),
                        Elements.of(taps.stream().flatMap(tap -> slot(tap, false))));
    }

    private Stream<String> slot(Tap tap, boolean isKey) {
        var slot = settings.slot(tap.nic().slot());
        return addresses(tap, false)
                .map(address -> isKey ? slot + " : " + address : address + " : " + slot);
    }

    /// The platform comes by slot addresses; guests leave by them. Their name server is the platform's.
    private String translation() {
        return """
                  chain to_inside {
                    type nat hook prerouting priority dstnat;
                    iifname "up0" ip saddr PLATFORM dnat ip to ip daddr map @inside
                    iifname "br0" ip daddr GATEWAY meta l4proto { tcp, udp } th dport 53 dnat ip to PLATFORM
                  }
                  chain to_outside {
                    type nat hook postrouting priority srcnat;
                    oifname "up0" meta nfproto ipv4 snat ip to ip saddr map @outside
                  }
                  chain input {
                    type filter hook input priority filter; policy drop;
                    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
                    ip daddr GATEWAY icmp type echo-request limit rate 100/second accept
                    ip6 daddr GATEWAY6 icmpv6 type echo-request limit rate 100/second accept
                  }
                """
                .replace("PLATFORM", settings.platform().toString())
                .replace("GATEWAY6", Fabric.GATEWAY_V6.toString())
                .replace("GATEWAY", Fabric.GATEWAY.toString());
    }

    private String decisions(Collection<String> chains) {
        return DECISIONS.replace("DISPATCH", dispatch(chains)).replace("MAIL", mailPorts());
    }

    private static String mailPorts() {
        return Firewall.MAIL_PORTS.stream()
                .sorted()
                .map(Object::toString)
                .collect(Collectors.joining(", "));
    }

    /// To the chains of the VM that opened the connection and of the one that it goes to.
    private String dispatch(Collection<String> chains) {
        return mouths.stream()
                        .map(Mouth::tunnel)
                        .flatMap(tunnel -> jumps(tunnel, chains))
                        .collect(Collectors.joining())
                + Stream.of(false, true)
                        .flatMap(
                                isV6 ->
                                        Stream.of(
                                                jumps(
                                                        "saddr",
                                                        isV6,
                                                        chains,
                                                        tap -> RuleLines.from(tap.nic())),
                                                jumps(
                                                        "daddr",
                                                        isV6,
                                                        chains,
                                                        tap -> RuleLines.to(tap.nic()))))
                        .collect(Collectors.joining());
    }

    private static Stream<String> jumps(Tunnel tunnel, Collection<String> chains) {
        return Stream.concat(
                        RuleLines.comingFrom(tunnel).map(c -> c + "jump " + RuleLines.from(tunnel)),
                        RuleLines.goingTo(tunnel).map(c -> c + "jump " + RuleLines.to(tunnel)))
                .filter(line -> chains.contains(line.substring(line.lastIndexOf(' ') + 1)))
                .map("    %s\n"::formatted);
    }

    private String jumps(
            String side, boolean isV6, Collection<String> chains, Function<Tap, String> chain) {
        var jumps =
                taps.stream()
                        .filter(tap -> chains.contains(chain.apply(tap)))
                        .flatMap(
                                tap ->
                                        addresses(tap, isV6)
                                                .map(
                                                        address ->
                                                                address
                                                                        + " : jump "
                                                                        + chain.apply(tap)))
                        .collect(Collectors.joining(", "));
        return jumps.isEmpty()
                ? ""
                : "    ct original %s %s vmap { %s }\n".formatted(isV6 ? "ip6" : "ip", side, jumps);
    }
}
