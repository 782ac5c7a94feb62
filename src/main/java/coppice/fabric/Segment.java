package coppice.fabric;

import coppice.base.Undo;
import coppice.network.AccountNetworks;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// The namespace of a private network, or of a VM that is in none: a bridge with the taps of VMs, and a pair of veths to the hub.
///
/// The bridge learns nothing and floods next to nothing. It answers ARP for its VMs itself; neighbour solicitations reach only whom they
/// ask for. It is made when its first VM is plugged in, and removed with the last one. Thread-safe.
final class Segment {
    /// Of every bridge: guests that move, by a fork or a wake, keep what they know of their gateway.
    static final String BRIDGE_MAC = "02:c0:00:00:00:00";

    private static final String PAIR =
            """
            ip netns add NAMESPACE
            ip link add VETH netns HUB type veth peer name up0 netns NAMESPACE
            """;

    private static final String HUB_SIDE =
            """
            ip -batch - <<END
            link set VETH mtu MTU up
            addr add 169.254.0.1/32 dev VETH
            addr add fe80::1/64 dev VETH nodad
            END
            """;

    private static final String INSIDE =
            """
            echo 1 > /proc/sys/net/ipv4/ip_forward
            echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects
            echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects
            echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
            echo 1 > /proc/sys/net/bridge/bridge-nf-call-ip6tables
            ip -batch - <<END
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
            END
            """;

    private final Place place;
    private final FabricSettings settings;
    private final String namespace;
    private final Script script;
    private final Map<String, Tap> taps = new LinkedHashMap<>();
    private final Map<String, Mouth> mouths = new LinkedHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private int generation = ThreadLocalRandom.current().nextInt(SegmentRules.GENERATIONS);
    private boolean isGone;

    Segment(Place place, FabricSettings settings) {
        this.place = place;
        this.settings = settings;
        this.namespace = settings.namespace(place.name());
        this.script = settings.script();
    }

    String namespace() {
        return namespace;
    }

    /// Plugs a VM in. Nothing passes its port until it is opened.
    ///
    /// @return false if the segment has just been removed: there is another one by now, or has to be
    boolean plug(Tap tap, Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (isGone) {
                        return false;
                    }
                    if (!Script.exists(namespace)) {
                        build();
                    }
                    taps.put(tap.name(), tap);
                    script.in(
                            namespace,
                            SegmentPorts.port(tap, settings.mtu()) + rules(networks.get()));
                    script.in(settings.namespace(Hub.NAME), ways(tap, "replace"));
                    return true;
                });
    }

    /// Takes note of a VM that a former server plugged in.
    boolean adopt(Tap tap) {
        return locked(
                () -> {
                    taps.put(tap.name(), tap);
                    return true;
                });
    }

    /// Lets packets pass a port.
    void open(Tap tap) {
        script.in(namespace, "ip link set %s up\n".formatted(tap.name()));
    }

    /// Takes a VM out, and the segment away with the last one.
    ///
    /// @return whether the segment is gone
    boolean unplug(Tap tap, Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (taps.remove(tap.name()) == null) {
                        return isGone;
                    }
                    if (taps.isEmpty() && mouths.isEmpty()) {
                        isGone = true;
                        remove();
                    } else {
                        script.in(settings.namespace(Hub.NAME), ways(tap, "del"));
                        script.in(namespace, SegmentPorts.unport(tap) + rules(networks.get()));
                    }
                    return isGone;
                });
    }

    /// Makes the end of a tunnel that is attached here, whose other end is in the tunnel's namespace.
    ///
    /// @return as [#plug]
    boolean attach(Mouth mouth, String tunnel, Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (isGone) {
                        return false;
                    }
                    if (!Script.exists(namespace)) {
                        build();
                    }
                    mouths.put(mouth.name(), mouth);
                    script.in(
                            namespace,
                            SegmentPorts.mouth(mouth, tunnel, settings.mtu())
                                    + rules(networks.get()));
                    return true;
                });
    }

    /// Takes the end of a tunnel away, and the segment with the last port.
    ///
    /// @return whether the segment is gone
    boolean detach(Mouth mouth, Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (mouths.remove(mouth.name()) == null) {
                        return isGone;
                    }
                    if (taps.isEmpty() && mouths.isEmpty()) {
                        isGone = true;
                        remove();
                    } else {
                        script.in(namespace, SegmentPorts.unmouth(mouth) + rules(networks.get()));
                    }
                    return isGone;
                });
    }

    /// Replaces the rules by what the model says now.
    ///
    /// @return whether the segment is gone
    boolean apply(Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (!isGone) {
                        script.in(namespace, rules(networks.get()));
                    }
                    return isGone;
                });
    }

    /// As [#apply], and removes ports that nobody has taken note of.
    boolean sweep(Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    var known = Stream.concat(taps.keySet().stream(), mouths.keySet().stream());
                    script.in(namespace, SegmentPorts.onlyThese(known) + rules(networks.get()));
                    return false;
                });
    }

    private String rules(AccountNetworks networks) {
        generation = generation % SegmentRules.GENERATIONS + 1;
        return "nft -f - <<'END'\n%sEND\n"
                .formatted(
                        new SegmentRules(place, networks, taps.values(), mouths.values(), settings)
                                .text(generation));
    }

    private void build() {
        try (var undo = new Undo()) {
            undo.onFailure(this::remove);
            script.here(filled(PAIR));
            script.in(settings.namespace(Hub.NAME), filled(HUB_SIDE));
            script.in(namespace, filled(INSIDE));
            undo.keep();
        }
    }

    private String filled(String text) {
        return text.replace("NAMESPACE", namespace)
                .replace("HUB", settings.namespace(Hub.NAME))
                .replace("VETH", veth())
                .replace("MTU", Integer.toString(settings.mtu()))
                .replace("MAC", BRIDGE_MAC)
                .replace("GATEWAY4", Fabric.GATEWAY.toString())
                .replace("GATEWAY6", Fabric.GATEWAY_V6.toString());
    }

    /// The hub's end. Ids are random, so their beginnings are too.
    private String veth() {
        var random = place.name().substring(place.name().indexOf('-') + 1);
        return "v" + random.substring(0, Math.min(random.length(), 14));
    }

    /// The hub's routes to a VM.
    private String ways(Tap tap, String verb) {
        var lines =
                new StringBuilder(
                        "ip route %s %s via 169.254.0.2 dev %s onlink\n"
                                .formatted(verb, settings.slot(tap.nic().slot()), veth()));
        tap.nic()
                .publicIpv6()
                .ifPresent(
                        address ->
                                lines.append(
                                        "ip route %s %s via fe80::2 dev %s\n"
                                                .formatted(verb, address, veth())));
        return lines.toString();
    }

    private void remove() {
        script.in(
                settings.namespace(Hub.NAME),
                "ip link del %s 2>/dev/null || true\n".formatted(veth()));
        script.here("ip netns del %s\n".formatted(namespace));
    }

    private <T> T locked(Supplier<T> act) {
        lock.lock();
        try {
            return act.get();
        } finally {
            lock.unlock();
        }
    }
}
