package coppice.fabric;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The table `bridge port` of a segment: a port says only what it is, its MAC, its addresses, in Ethernet, ARP and neighbour discovery.
/// What is between two of them goes to whoever has the address, wherever the sender remembers somebody who had it before, and nothing goes
/// to all. A tunnel speaks for whoever is behind it: its own namespace has looked at that.
final class PortRules {
    private static final String TEXT =
            """
            table bridge port {
              set macs { type ifname . ether_addr; MACS }
              set owners4 { type ifname . ipv4_addr; OWNERS4 }
              set owners6 { type ifname . ipv6_addr; OWNERS6 }
              set targets6 { typeof oifname . @th,64,128; TARGETS6 }
              map stations4 { type ipv4_addr : ether_addr; STATIONS4 }
              map stations6 { type ipv6_addr : ether_addr; STATIONS6 }
              chain in {
                type filter hook prerouting priority -300; policy drop;
                iifname . ether saddr != @macs drop
            COMING    ether daddr != GATEWAY ether daddr set ip daddr map @stations4
                ether daddr != GATEWAY ether daddr set ip6 daddr map @stations6
                iifname "tn*" ether type { arp, ip, ip6 } accept
                ether type arp arp htype 1 arp ptype ip iifname . arp saddr ether @macs iifname . arp saddr ip @owners4 accept
                ether type ip iifname . ip saddr @owners4 accept
                ether type ip6 iifname . ip6 saddr @owners6 accept
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

    private final List<Station> guests;
    private final List<Station> all;
    private final List<Mouth> mouths;

    PortRules(List<Tap> taps, List<Mouth> mouths) {
        this.guests = taps.stream().map(Tap::station).toList();
        this.all = Stream.concat(guests.stream(), mouths.stream().map(Mouth::station)).toList();
        this.mouths = mouths;
    }

    String text() {
        return TEXT.replace("GATEWAY", Segment.BRIDGE_MAC)
                .replace("COMING", marks("    iifname \"%s\" meta mark set 0x%x0000\n"))
                .replace(
                        "GOING",
                        marks("    oifname \"%s\" meta mark set meta mark or 0x%x\n") + asked())
                .replace("MACS", owned(all, station -> Stream.of(station.mac())))
                .replace("OWNERS4", owned(guests, station -> reached(station, false)))
                .replace("OWNERS6", owned(guests, station -> reached(station, true)))
                .replace("TARGETS6", owned(all, PortRules::targets))
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
}
