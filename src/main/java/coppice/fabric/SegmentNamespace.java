package coppice.fabric;

/// What a segment is before anybody is in it: a network namespace, a bridge there, and the way to the hub. All is lines of shell, to be
/// run on the host's side.
///
/// @param place the name of the segment's place
record SegmentNamespace(String place, FabricSettings settings) {
    /// Of every bridge: guests that move, by a fork or a wake, keep what they know of their gateway.
    static final String BRIDGE_MAC = "02:c0:00:00:00:00";

    /// The hub's end may still be there of a segment of the same place, which goes some time after its name.
    private static final String PAIR =
            """
            ip -batch - 2>/dev/null <<END || {
            netns add NAMESPACE
            link add VETH netns HUB type veth peer name up0 netns NAMESPACE
            END
              ip -n HUB link del VETH 2>/dev/null || true
              ip link add VETH netns HUB type veth peer name up0 netns NAMESPACE
            }
            """;

    /// Lines of `ip`.
    private static final String HUB_SIDE =
            """
            link set VETH mtu MTU up
            addr add 169.254.0.1/32 dev VETH
            addr add fe80::1/64 dev VETH nodad
            """;

    private static final String SWITCHES =
            """
            echo 1 > /proc/sys/net/ipv4/ip_forward
            echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects
            echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects
            echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
            echo 1 > /proc/sys/net/bridge/bridge-nf-call-ip6tables
            """;

    /// Lines of `ip`.
    private static final String INSIDE =
            """
            link set lo up
            link set up0 mtu MTU up
            addr add 169.254.0.2/32 dev up0
            addr add fe80::2/64 dev up0 nodad
            route add 169.254.0.1 dev up0
            route add default via 169.254.0.1 dev up0 onlink
            route add default via fe80::1 dev up0
            link add br0 mtu MTU address MAC type bridge mcast_snooping 0
            link set br0 up
            addr add GATEWAY4/32 dev br0
            addr add GATEWAY6/64 dev br0 nodad
            """;

    String name() {
        return settings.namespace(place);
    }

    /// Makes it.
    ///
    /// @param inHub more lines of `ip`, for the hub
    /// @param inside more lines, for the new namespace
    String making(String inHub, String inside) {
        return filled(PAIR)
                + Ways.inHub(settings, filled(HUB_SIDE) + inHub)
                + Script.lines(name(), SWITCHES + SegmentPorts.batch(filled(INSIDE)) + inside);
    }

    private String filled(String text) {
        return text.replace("NAMESPACE", name())
                .replace("HUB", settings.namespace(Hub.NAME))
                .replace("VETH", Ways.device(place))
                .replace("MTU", Integer.toString(settings.mtu()))
                .replace("MAC", BRIDGE_MAC)
                .replace("GATEWAY4", Fabric.GATEWAY.toString())
                .replace("GATEWAY6", Fabric.GATEWAY_V6.toString());
    }

    /// Removes it if nobody is in it. To wait for the end of its devices would take the longest time of all.
    String leaving() {
        return "! test -e %s || ip netns del %s\n".formatted(Script.path(name()), name());
    }

    /// Cuts it off from the hub: as long as a process is in it all stays that is not removed.
    String cutting() {
        return "ip -n %s link del %s 2>/dev/null || true\n"
                .formatted(settings.namespace(Hub.NAME), Ways.device(place));
    }

    /// Removes it whoever is in it.
    String removing() {
        return cutting() + leaving();
    }
}
