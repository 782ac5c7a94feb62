package coppice.fabric;

import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Undo;
import coppice.fabric.SegmentUpdate.Placed;
import coppice.network.AccountNetworks;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
            link set VETH mtu MTU up
            addr add 169.254.0.1/32 dev VETH
            addr add fe80::1/64 dev VETH nodad
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
    private final KnownLines known;
    private final Ways ways;
    private int generation = ThreadLocalRandom.current().nextInt(SegmentRules.GENERATIONS);
    private boolean isGone;

    /// The rules that are in place, as far as they are known.
    private Optional<Placed> placed = Optional.empty();

    Segment(Place place, FabricSettings settings) {
        this.place = place;
        this.settings = settings;
        this.namespace = settings.namespace(place.name());
        this.script = settings.script();
        this.ways = new Ways(place, settings);
        this.known = new KnownLines(place, Public.of(settings.ipv6()));
    }

    String namespace() {
        return namespace;
    }

    /// Plugs a VM in. Nothing passes its port until it is opened.
    ///
    /// @return false if the segment has just been removed: there is another one by now, or has to be
    boolean plug(Tap tap, Supplier<AccountNetworks> networks) {
        return come(
                () -> {
                    taps.put(tap.name(), tap);
                    enforce(SegmentPorts.port(tap, settings.mtu()), networks.get());
                    script.ip(settings.namespace(Hub.NAME), ways.made(tap));
                });
    }

    /// As [#plug], for a VM whose port is in another segment, which is to forget it.
    boolean take(Tap tap, String from, Supplier<AccountNetworks> networks) {
        return come(
                () -> {
                    taps.put(tap.name(), tap);
                    var moved = SegmentPorts.moved(tap, from, namespace);
                    enforce(moved + SegmentPorts.port(tap, settings.mtu()), networks.get());
                    script.ip(settings.namespace(Hub.NAME), ways.made(tap));
                });
    }

    /// Makes the end of a tunnel that is attached here, whose other end is in the tunnel's namespace.
    ///
    /// @return as [#plug]
    boolean attach(Mouth mouth, String tunnel, Supplier<AccountNetworks> networks) {
        return come(
                () -> {
                    mouths.put(mouth.name(), mouth);
                    enforce(SegmentPorts.mouth(mouth, tunnel, settings.mtu()), networks.get());
                });
    }

    private boolean come(Runnable act) {
        return locked(
                () -> {
                    if (!isGone) {
                        if (!Script.exists(namespace)) {
                            build();
                        }
                        act.run();
                    }
                    return !isGone;
                });
    }

    /// Takes note of a VM that a former server plugged in.
    boolean adopt(Tap tap) {
        return locked(
                () -> {
                    placed = placed.or(() -> Optional.of(Placed.unknown(List.of(), 0)));
                    taps.put(tap.name(), tap);
                    return true;
                });
    }

    /// Lets packets pass a port.
    void open(Tap tap) {
        script.ip(namespace, "link set %s up\n".formatted(tap.name()));
    }

    /// Takes a VM out, and the segment away with the last port.
    ///
    /// @return whether the segment is gone
    boolean unplug(Tap tap, Supplier<AccountNetworks> networks) {
        return go(
                taps,
                tap.name(),
                () -> {
                    script.in(settings.namespace(Hub.NAME), ways.removed(ways.to(tap)));
                    enforce(SegmentPorts.unport(tap), networks.get());
                },
                () -> {});
    }

    /// Takes the end of a tunnel away, and the segment with the last port. Can be tried again when it fails.
    ///
    /// @return whether the segment is gone
    boolean detach(Mouth mouth, Supplier<AccountNetworks> networks) {
        return go(
                mouths,
                mouth.name(),
                () -> {
                    try {
                        enforce(SegmentPorts.unmouth(mouth), networks.get());
                    } catch (Failure e) {
                        mouths.put(mouth.name(), mouth);
                        throw e;
                    }
                },
                () -> script.in(namespace, SegmentPorts.cut(mouth)));
    }

    /// @param act takes it out of a segment that goes on
    /// @param last what is done before the segment goes
    private boolean go(Map<String, ?> ports, String name, Runnable act, Runnable last) {
        return locked(
                () -> {
                    if (ports.remove(name) == null) {
                        return isGone;
                    }
                    if (taps.isEmpty() && mouths.isEmpty()) {
                        isGone = true;
                        last.run();
                        remove();
                    } else {
                        act.run();
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
                        replace(networks.get());
                    }
                    return isGone;
                });
    }

    /// As [#apply], and removes what a former server has left of VMs that are not here.
    boolean sweep(Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    var hub = settings.namespace(Hub.NAME);
                    script.in(
                            namespace,
                            SegmentPorts.onlyThese(
                                            Stream.concat(
                                                    taps.keySet().stream(),
                                                    mouths.keySet().stream()))
                                    + SegmentPorts.forgotten(
                                            strangers(namespace, "br0", here()).stream()));
                    script.in(
                            hub,
                            ways.removed(strangers(hub, Ways.device(place.name()), reached())));
                    if (placed.flatMap(Placed::fixed).isEmpty()) {
                        placed = found();
                    }
                    replace(networks.get());
                    enforce("", networks.get(), true);
                    return false;
                });
    }

    private Stream<IpAddress> here() {
        return Stream.concat(
                taps.values().stream().flatMap(tap -> tap.addresses().stream()),
                mouths.values().stream().flatMap(mouth -> mouth.attachment().addresses()));
    }

    private Stream<IpAddress> reached() {
        return taps.values().stream().flatMap(tap -> ways.to(tap).stream());
    }

    /// The addresses that are routed to a device and are none of these.
    private List<IpAddress> strangers(String namespace, String device, Stream<IpAddress> known) {
        var wanted = known.toList();
        return script.ask(
                        namespace,
                        "ip -4 route show dev DEVICE\nip -6 route show dev DEVICE\n"
                                .replace("DEVICE", device))
                .lines()
                .flatMap(line -> IpAddress.parse(line.split(" ")[0]).stream())
                .filter(address -> !wanted.contains(address))
                .toList();
    }

    private Optional<Placed> found() {
        try {
            var listed = script.ask(namespace, SegmentUpdate.LISTING);
            return Optional.of(SegmentUpdate.found(listed)).filter(_ -> !listed.isEmpty());
        } catch (Failure e) {
            return placed;
        }
    }

    private void replace(AccountNetworks networks) {
        boolean isKnown = placed.isPresent();
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
        enforce(first, networks, false);
    }

    /// @param isLook whether all is in place, and only every connection is to be looked at again
    private void enforce(String first, AccountNetworks networks, boolean isLook) {
        var lines = known.of(networks, SegmentRules.VERDICT);
        var rules = new SegmentRules(lines, taps.values(), mouths.values(), settings);
        int next = generation % SegmentRules.GENERATIONS + 1;
        var update =
                isLook
                        ? SegmentUpdate.looked(rules, placed.orElseThrow(), next)
                        : SegmentUpdate.of(rules, placed, next);
        generation = update.placed().generation();
        placed = Optional.empty();
        if (!first.isEmpty()) {
            script.in(namespace, first);
        }
        if (!update.lines().isEmpty()) {
            script.nft(namespace, update.lines());
        }
        placed = Optional.of(update.placed());
    }

    private void build() {
        try (var undo = new Undo()) {
            undo.onFailure(this::remove);
            script.here(filled(PAIR));
            script.ip(settings.namespace(Hub.NAME), filled(HUB_SIDE));
            script.in(namespace, filled(INSIDE));
            undo.keep();
        }
    }

    private String filled(String text) {
        return text.replace("NAMESPACE", namespace)
                .replace("HUB", settings.namespace(Hub.NAME))
                .replace("VETH", Ways.device(place.name()))
                .replace("MTU", Integer.toString(settings.mtu()))
                .replace("MAC", BRIDGE_MAC)
                .replace("GATEWAY4", Fabric.GATEWAY.toString())
                .replace("GATEWAY6", Fabric.GATEWAY_V6.toString());
    }

    private void remove() {
        remove(settings, place.name());
    }

    /// The namespace goes some time after its name, and would keep the name of the hub's end so long.
    static void remove(FabricSettings settings, String place) {
        settings.script()
                .in(
                        settings.namespace(Hub.NAME),
                        "ip link del %s 2>/dev/null || true\n".formatted(Ways.device(place)));
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
