package coppice.fabric;

import coppice.base.IpAddress;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The lines of shell that make and remove ports of a segment's bridge. What is there already is made what it should be.
final class SegmentPorts {
    /// WireGuard lets packets go one by one. Joined again, by generic receive offload, they cost the bridge, the rules and the guest less.
    /// The kernel joins only what a device sent that cannot do segmentation (`veth_skb_is_eligible_for_gro`). For how many nanoseconds a
    /// packet may wait for the next is told by sysfs alone, which shows the devices of the namespace in which it was mounted. Where all
    /// that fails packets pass, too.
    private static final String JOINING =
            """
            { nsenter --net=TUNNEL ethtool -K INNER tso off && ethtool -K NAME gro on &&
              unshare -m sh -c 'mount -t sysfs sysfs /sys && echo 50000 > /sys/class/net/NAME/gro_flush_timeout'
            } 2>/dev/null || true
            """;

    private SegmentPorts() {}

    static String port(Tap tap, int mtu) {
        return present(tap.name(), tap.making()) + joined(tap, mtu);
    }

    /// Of a port that is brought here from another namespace.
    static String moved(Tap tap, String from, String to, int mtu) {
        return "ip -n %s link set %s netns %s\n".formatted(from, tap.name(), to) + joined(tap, mtu);
    }

    private static String joined(Tap tap, int mtu) {
        return joined(tap.station(), mtu, "bcast_flood off", "down");
    }

    /// Is made first and looked for then: mostly it is not there.
    private static String present(String name, String making) {
        return """
        ip MAKING 2>/dev/null || ip link show NAME >/dev/null 2>&1 || ip MAKING
        """
                .replace("MAKING", making)
                .replace("NAME", name);
    }

    /// Lines of shell that run these of `ip`.
    static String batch(String lines) {
        return "ip -batch - <<END\n%sEND\n".formatted(lines);
    }

    /// A tunnel answers for the ranges behind it itself, so it hears who asks for addresses that nobody here has.
    ///
    /// @param tunnel the namespace of the tunnel
    static String mouth(Mouth mouth, String tunnel, int mtu) {
        var making =
                "link add %s type veth peer name %s address %s netns %s"
                        .formatted(mouth.name(), mouth.inner(), mouth.mac(), tunnel);
        return present(mouth.name(), making)
                + joined(mouth.station(), mtu, "bcast_flood on", "up")
                + JOINING.replace("TUNNEL", Script.path(tunnel).toString())
                        .replace("INNER", mouth.inner())
                        .replace("NAME", mouth.name());
    }

    /// Removes all ports but these.
    static String onlyThese(Stream<String> names) {
        return """
                for port in $(ip -o link show master br0 | cut -d: -f2 | cut -d@ -f1); do
                  case " KNOWN " in *" $port "*) ;; *) ip link del $port ;; esac
                done
                """
                .replace("KNOWN", names.collect(Collectors.joining(" ")));
    }

    private static String joined(Station station, int mtu, String flood, String state) {
        var known =
                station.addresses().stream()
                        .map(
                                """
                                neigh replace %1$s lladdr MAC dev br0 nud permanent
                                route replace %1$s dev br0
                                """
                                        ::formatted)
                        .collect(Collectors.joining());
        var lines =
                """
                link set NAME mtu MTU master br0
                link set NAME type bridge_slave learning off flood off FLOOD proxy_arp_wifi on
                link set NAME STATE
                """;
        return (batch(lines + known) + "bridge fdb replace MAC dev NAME master static\n")
                .replace("NAME", station.port())
                .replace("MAC", station.mac())
                .replace("MTU", Integer.toString(mtu))
                .replace("FLOOD", flood)
                .replace("STATE", state);
    }

    /// Connections of whoever has the addresses next are others.
    static String unport(Tap tap) {
        return forgotten(tap.name(), tap.addresses().stream());
    }

    static String unmouth(Mouth mouth) {
        return forgotten(mouth.name(), mouth.attachment().addresses());
    }

    /// Removes both ends at once. With their namespace they go some time after it, and have their names until then.
    static String cut(Mouth mouth) {
        return "ip link del %s 2>/dev/null || true\n".formatted(mouth.name());
    }

    private static String forgotten(String name, Stream<IpAddress> addresses) {
        return "if ip link show NAME >/dev/null 2>&1; then ip link del NAME; fi\n"
                        .replace("NAME", name)
                + forgotten(addresses);
    }

    static String forgotten(Stream<IpAddress> addresses) {
        var lines = new StringBuilder();
        addresses.forEach(
                address -> {
                    lines.append(
                            """
                            ip neigh del ADDRESS dev br0 2>/dev/null || true
                            ip route del ADDRESS dev br0 2>/dev/null || true
                            """
                                    .replace("ADDRESS", address.toString()));
                    for (var side : new String[] {"orig-src", "orig-dst", "reply-src"}) {
                        lines.append(
                                "conntrack -D -f %s --%s %s >/dev/null 2>&1 || true\n"
                                        .formatted(
                                                address.isV6() ? "ipv6" : "ipv4", side, address));
                    }
                });
        return lines.toString();
    }
}
