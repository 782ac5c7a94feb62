package coppice.fabric;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The table `bridge port` of a segment: a port says only what it is, its MAC, its addresses, in Ethernet, ARP and neighbour discovery.
/// What is between two of them goes to whoever has the address, wherever the sender remembers somebody who had it before, and nothing goes
/// to all. A tunnel speaks for whoever is behind it: its own namespace has looked at that. A VM that is the next hop of another one's route
/// passes on to it what comes from there, which may only be answers.
final class PortRules {
    private static final String TEXT =
            """
            table bridge port {
              set macs { type ifname . ether_addr; MACS }
              set owners4 { type ifname . ipv4_addr; OWNERS4 }
              set owners6 { type ifname . ipv6_addr; OWNERS6 }
              set targets6 { typeof oifname . @th,64,128; TARGETS6 }
              set routed4 { type ether_addr . ipv4_addr . ipv4_addr; flags interval; ROUTED4 }
              set routed6 { type ether_addr . ipv6_addr . ipv6_addr; flags interval; ROUTED6 }
              map stations4 { type ipv4_addr : ether_addr; STATIONS4 }
              map stations6 { type ipv6_addr : ether_addr; STATIONS6 }
              chain in {
                type filter hook prerouting priority -300; policy drop;
                iifname . ether saddr != @macs drop
            COMING    ether daddr != GATEWAY ether daddr set ip daddr map @stations4
                ether daddr != GATEWAY ether daddr set ip6 daddr map @stations6
                iifname "tn*" ether type { arp, ip, ip6 } accept
                ether type arp arp htype 1 arp ptype ip iifname . arp saddr ether @macs iifname . arp saddr ip @owners4 accept
                arp htype 1 arp ptype ip iifname . arp saddr ether @macs ether saddr . arp saddr ip . arp daddr ip @routed4 accept
                ether type ip iifname . ip saddr @owners4 accept
                ether type ip6 iifname . ip6 saddr @owners6 accept
                icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } drop
                ether saddr . ip saddr . ip daddr @routed4 meta mark set ROUTED accept
                ether saddr . ip6 saddr . ip6 daddr @routed6 meta mark set ROUTED accept
              }
              chain between {
                type filter hook forward priority -10; policy accept;
            GOING    ether type arp oifname "tn*" arp operation request drop
                ether type arp iifname "tn*" accept
                ether type arp oifname "tn*" accept
                ether type arp drop
                icmpv6 type nd-neighbor-solicit oifname . @th,64,128 @targets6 accept
                icmpv6 type { nd-neighbor-solicit, nd-router-advert, nd-redirect } drop
                icmpv6 type nd-neighbor-advert iifname . @th,64,128 != @targets6 drop
                meta pkttype { broadcast, multicast } drop
                ip daddr 224.0.0.0/3 drop
                ip6 daddr ff00::/8 drop
              }
            }
            """;

    /// What is passed on by a VM is marked with, in the place of a tunnel that it would come from.
    static final String ROUTED = "0xffff0000";

    private final List<Tap> taps;
    private final List<Station> guests;
    private final List<Station> all;
    private final List<Mouth> mouths;

    PortRules(List<Tap> taps, List<Mouth> mouths) {
        this.taps = taps;
        this.guests = taps.stream().map(Tap::station).toList();
        this.all = Stream.concat(guests.stream(), mouths.stream().map(Mouth::station)).toList();
        this.mouths = mouths;
    }

    String text() {
        return TEXT.replace("GATEWAY", SegmentNamespace.BRIDGE_MAC)
                .replace("COMING", marks("    iifname \"%s\" meta mark set 0x%x0000\n"))
                .replace(
                        "GOING",
                        marks("    oifname \"%s\" meta mark set meta mark or 0x%x\n") + asked())
                .replace("MACS", owned(all, station -> Stream.of(station.mac())))
                .replace("OWNERS4", owned(guests, station -> reached(station, false)))
                .replace("OWNERS6", owned(guests, station -> reached(station, true)))
                .replace("TARGETS6", owned(all, PortRules::targets))
                .replace("ROUTED4", routed(false))
                .replace("ROUTED6", routed(true))
                .replace("ROUTED", ROUTED)
                .replace("STATIONS4", stations(false))
                .replace("STATIONS6", stations(true));
    }

    /// What a packet's mark says: in its upper half the tunnel that it comes from, in its lower half the one that it goes to.
    private String marks(String line) {
        return mouths.stream()
                .map(mouth -> line.formatted(mouth.name(), Mouth.mark(mouth.tunnel())))
                .collect(Collectors.joining());
    }

    /// A tunnel's end would answer for whatever it is asked for, so it is asked for what is behind it only.
    private String asked() {
        return mouths.stream()
                .flatMap(
                        mouth ->
                                mouth.attachment().remote().stream()
                                        .filter(mouth.attachment().cidr()::contains)
                                        .map(
                                                "    oifname \"%s\" arp operation request arp daddr ip %s accept\n"
                                                                .formatted(mouth.name(), "%s")
                                                        ::formatted))
                .collect(Collectors.joining());
    }

    private static String owned(List<Station> stations, Function<Station, Stream<String>> values) {
        return Elements.of(
                stations.stream()
                        .flatMap(
                                station ->
                                        values.apply(station)
                                                .map(
                                                        value ->
                                                                "\"%s\" . %s"
                                                                        .formatted(
                                                                                station.port(),
                                                                                value))));
    }

    private static Stream<String> reached(Station station, boolean isV6) {
        return station.reached(isV6).map(Object::toString);
    }

    /// As nftables writes bytes that it has no type for.
    private static Stream<String> targets(Station station) {
        return station.reached(true)
                .map(address -> "0x%016x%016x".formatted(address.high(), address.low()));
    }

    private String stations(boolean isV6) {
        return Elements.of(
                all.stream()
                        .flatMap(
                                station ->
                                        reached(station, isV6)
                                                .map(address -> address + " : " + station.mac())));
    }

    /// By MAC of the next hop: where somebody says that it leads to, and who says so. Nobody who is here is elsewhere too.
    private String routed(boolean isV6) {
        var here =
                Ranges.ofAddresses(
                        all.stream()
                                .flatMap(station -> station.addresses().stream())
                                .filter(address -> address.isV6() == isV6));
        return Elements.of(
                taps.stream()
                        .flatMap(
                                tap ->
                                        behind(tap, isV6).entrySet().stream()
                                                .flatMap(
                                                        hop ->
                                                                routed(
                                                                        hop.getKey(),
                                                                        hop.getValue().minus(here),
                                                                        tap,
                                                                        isV6))));
    }

    private static Stream<String> routed(String mac, Ranges ranges, Tap tap, boolean isV6) {
        return tap.station().addresses().stream()
                .filter(address -> address.isV6() == isV6)
                .flatMap(
                        address ->
                                ranges.each()
                                        .map(
                                                range ->
                                                        "%s . %s . %s"
                                                                .formatted(mac, range, address)));
    }

    /// What a VM has routes to, by the MAC of the VM here that is the next hop.
    private Map<String, Ranges> behind(Tap tap, boolean isV6) {
        var behind = new TreeMap<String, Ranges>();
        tap.nic().membership().stream()
                .flatMap(membership -> membership.routes().stream())
                .filter(route -> route.cidr().isV6() == isV6)
                .forEach(
                        route ->
                                guests.stream()
                                        .filter(hop -> hop.addresses().contains(route.via()))
                                        .forEach(
                                                hop ->
                                                        behind.merge(
                                                                hop.mac(),
                                                                Ranges.of(route.cidr()),
                                                                Ranges::plus)));
        return behind;
    }
}
