package coppice.fabric;

import coppice.base.Failure;
import coppice.network.AccountNetworks;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

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
    private final ReentrantLock lock = new ReentrantLock();
    private int generation = ThreadLocalRandom.current().nextInt(SegmentRules.GENERATIONS);
    private boolean isGone;

    /// Of the rules that are in place.
    private Optional<Set<String>> chains = Optional.empty();

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
                    enforce(port(tap), networks.get());
                    script.in(settings.namespace(Hub.NAME), ways(tap, "replace"));
                    return true;
                });
    }

    /// Takes note of a VM that a former server plugged in.
    void adopt(Tap tap) {
        locked(
                () -> {
                    chains = Optional.of(chains.orElse(Set.of()));
                    return taps.put(tap.name(), tap);
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
                    if (taps.isEmpty()) {
                        isGone = true;
                        remove();
                    } else {
                        script.in(settings.namespace(Hub.NAME), ways(tap, "del"));
                        enforce(unport(tap), networks.get());
                    }
                    return isGone;
                });
    }

    /// Replaces the rules by what the model says now.
    void apply(Supplier<AccountNetworks> networks) {
        locked(
                () -> {
                    if (!isGone && !taps.isEmpty()) {
                        replace(networks.get());
                    }
                    return true;
                });
    }

    private void replace(AccountNetworks networks) {
        boolean isKnown = chains.isPresent();
        try {
            enforce("", networks);
        } catch (Failure e) {
            if (!isKnown) {
                throw e;
            }
            enforce("", networks); // those of another version of the server, say
        }
    }

    /// @param first lines to be run before
    private void enforce(String first, AccountNetworks networks) {
        generation = generation % SegmentRules.GENERATIONS + 1;
        var text =
                new SegmentRules(place, networks, taps.values(), settings).text(generation, chains);
        chains = Optional.empty();
        script.in(namespace, first + "nft -f - <<'END'\n%sEND\n".formatted(text.lines()));
        chains = Optional.of(text.chains());
    }

    private void build() {
        script.here(filled(PAIR));
        script.in(settings.namespace(Hub.NAME), filled(HUB_SIDE));
        script.in(namespace, filled(INSIDE));
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

    private String port(Tap tap) {
        var lines = new StringBuilder("ip -batch - <<END\n");
        lines.append(
                """
                MAKING
                link set TAP mtu MTU master br0
                link set TAP type bridge_slave learning off flood off bcast_flood off proxy_arp_wifi on
                """
                        .replace("MAKING", tap.making())
                        .replace("TAP", tap.name())
                        .replace("MTU", Integer.toString(settings.mtu())));
        for (var address : tap.addresses()) {
            lines.append(
                    "neigh replace %s lladdr %s dev br0 nud permanent\n"
                            .formatted(address, tap.nic().mac()));
            lines.append("route replace %s dev br0\n".formatted(address));
        }
        lines.append("END\n");
        return lines
                + "bridge fdb replace %s dev %s master static\n"
                        .formatted(tap.nic().mac(), tap.name());
    }

    /// Connections of whoever has the addresses next are others.
    private static String unport(Tap tap) {
        var lines = new StringBuilder("ip link del %s\n".formatted(tap.name()));
        for (var address : tap.addresses()) {
            lines.append(
                    "ip neigh del %s dev br0\nip route del %s dev br0\n"
                            .formatted(address, address));
            for (var side : new String[] {"orig-src", "orig-dst", "reply-src"}) {
                lines.append(
                        "conntrack -D -f %s --%s %s >/dev/null 2>&1 || true\n"
                                .formatted(address.isV6() ? "ipv6" : "ipv4", side, address));
            }
        }
        return lines.toString();
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
