package coppice.fabric;

import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.network.AccountNetworks;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
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
                    script.in(settings.namespace(Hub.NAME), ways(tap));
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
                        script.in(settings.namespace(Hub.NAME), noWays(waysTo(tap)));
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
                .replace("VETH", veth(place.name()))
                .replace("MTU", Integer.toString(settings.mtu()))
                .replace("MAC", BRIDGE_MAC)
                .replace("GATEWAY4", Fabric.GATEWAY.toString())
                .replace("GATEWAY6", Fabric.GATEWAY_V6.toString());
    }

    /// The hub's end. Ids are random, so their beginnings are too.
    private static String veth(String place) {
        var random = place.substring(place.indexOf('-') + 1);
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

    private static String unport(Tap tap) {
        return unlink(tap.name()) + forget(tap.addresses());
    }

    /// It may have failed to be made.
    private static String unlink(String tap) {
        return "if ip link show TAP >/dev/null 2>&1; then ip link del TAP; fi\n"
                .replace("TAP", tap);
    }

    /// Connections of whoever has the addresses next are others.
    private static String forget(Collection<IpAddress> addresses) {
        var lines = new StringBuilder();
        for (var address : addresses) {
            lines.append(
                    """
                    ip neigh del ADDRESS dev br0 2>/dev/null || true
                    ip route del ADDRESS dev br0 2>/dev/null || true
                    """
                            .replace("ADDRESS", address.toString()));
            for (var side : new String[] {"orig-src", "orig-dst", "reply-src"}) {
                lines.append(
                        "conntrack -D -f %s --%s %s >/dev/null 2>&1 || true\n"
                                .formatted(address.isV6() ? "ipv6" : "ipv4", side, address));
            }
        }
        return lines.toString();
    }

    /// The hub's routes to a VM.
    private String ways(Tap tap) {
        return waysTo(tap).stream()
                .map(
                        address ->
                                "ip route replace %s via %s dev %s%s\n"
                                        .formatted(
                                                address,
                                                address.isV6() ? "fe80::2" : "169.254.0.2",
                                                veth(place.name()),
                                                address.isV6() ? "" : " onlink"))
                .collect(Collectors.joining());
    }

    private String noWays(Collection<IpAddress> addresses) {
        return addresses.stream()
                .map(
                        address ->
                                "ip route del %s dev %s 2>/dev/null || true\n"
                                        .formatted(address, veth(place.name())))
                .collect(Collectors.joining());
    }

    private List<IpAddress> waysTo(Tap tap) {
        return Stream.concat(
                        Stream.of(settings.slot(tap.nic().slot())), tap.nic().publicIpv6().stream())
                .toList();
    }

    /// Removes what a former server has left of VMs that are not here, and replaces the rules by what the model says now.
    void sweep(Supplier<AccountNetworks> networks) {
        locked(
                () -> {
                    var ports = script.ask(namespace, "ip -br link show master br0\n");
                    var lines =
                            ports.lines()
                                    .map(line -> line.split("[@ ]")[0])
                                    .filter(name -> !taps.containsKey(name))
                                    .map(Segment::unlink)
                                    .collect(Collectors.joining());
                    var addresses = strangers(namespace, "br0", Tap::addresses);
                    var hub = settings.namespace(Hub.NAME);
                    var ways = strangers(hub, veth(place.name()), this::waysTo);
                    script.in(namespace, lines + forget(addresses));
                    script.in(hub, noWays(ways));
                    return true;
                });
        apply(networks);
    }

    /// The addresses that are routed to a device and are no VM's here.
    private List<IpAddress> strangers(
            String namespace, String device, Function<Tap, List<IpAddress>> addresses) {
        var known = taps.values().stream().flatMap(tap -> addresses.apply(tap).stream()).toList();
        return script.ask(
                        namespace,
                        "ip -4 route show dev DEVICE\nip -6 route show dev DEVICE\n"
                                .replace("DEVICE", device))
                .lines()
                .flatMap(line -> IpAddress.parse(line.split(" ")[0]).stream())
                .filter(address -> !known.contains(address))
                .toList();
    }

    private void remove() {
        remove(settings, place.name());
    }

    /// The namespace goes some time after its name, and would keep the name of the hub's end so long.
    static void remove(FabricSettings settings, String place) {
        settings.script()
                .in(
                        settings.namespace(Hub.NAME),
                        "ip link del %s 2>/dev/null || true\n".formatted(veth(place)));
        settings.script().here("ip netns del %s\n".formatted(settings.namespace(place)));
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
