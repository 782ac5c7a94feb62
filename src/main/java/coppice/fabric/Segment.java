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
    private final Place place;
    private final FabricSettings settings;
    private final String namespace;
    private final Script script;
    private final Map<String, Tap> taps = new LinkedHashMap<>();
    private final Map<String, Mouth> mouths = new LinkedHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final KnownLines known;
    private final Ways ways;
    private final SegmentNamespace itself;
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
        this.itself = new SegmentNamespace(place.name(), settings);
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
                () -> taps.put(tap.name(), tap),
                SegmentPorts.port(tap, settings.mtu()),
                ways.made(tap),
                networks);
    }

    /// As [#plug], for a VM whose port is in another segment, which is to forget it.
    boolean take(Tap tap, String from, Supplier<AccountNetworks> networks) {
        return come(
                () -> taps.put(tap.name(), tap),
                SegmentPorts.moved(tap, from, namespace, settings.mtu()),
                ways.made(tap),
                networks);
    }

    /// Makes the end of a tunnel that is attached here, whose other end is in the tunnel's namespace.
    ///
    /// @return as [#plug]
    boolean attach(Mouth mouth, String tunnel, Supplier<AccountNetworks> networks) {
        return come(
                () -> mouths.put(mouth.name(), mouth),
                SegmentPorts.mouth(mouth, tunnel, settings.mtu()),
                "",
                networks);
    }

    /// @param inHub lines of `ip`
    private boolean come(
            Runnable note, String port, String inHub, Supplier<AccountNetworks> networks) {
        return locked(
                () -> {
                    if (!isGone) {
                        note.run();
                        if (Script.exists(namespace)) {
                            update(port, Ways.inHub(settings, inHub), networks.get());
                        } else {
                            build(port, inHub, networks.get());
                        }
                    }
                    return !isGone;
                });
    }

    private void build(String port, String inHub, AccountNetworks networks) {
        var update = SegmentUpdate.first(rules(networks), nextGeneration());
        try (var undo = new Undo()) {
            undo.onFailure(() -> script.here(itself.removing()));
            put(update, () -> script.here(itself.making(inHub, port + nft(update))));
            undo.keep();
        }
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
        return go(taps, tap.name(), () -> takeOut(tap, networks.get()), () -> {});
    }

    /// Takes a VM out whose QEMU stays in the namespace of this segment: with it would stay all that is not removed.
    ///
    /// @return as [#unplug]
    boolean release(Tap tap, Supplier<AccountNetworks> networks) {
        return go(
                taps,
                tap.name(),
                () -> takeOut(tap, networks.get()),
                () -> script.here(itself.cutting()));
    }

    private void takeOut(Tap tap, AccountNetworks networks) {
        update(ways.removed(ways.to(tap)) + SegmentPorts.unport(tap), "", networks);
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
                        update(SegmentPorts.unmouth(mouth), "", networks.get());
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
                        script.here(itself.leaving());
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
                    script.in(
                            namespace,
                            SegmentPorts.onlyThese(
                                            Stream.concat(
                                                    taps.keySet().stream(),
                                                    mouths.keySet().stream()))
                                    + SegmentPorts.forgotten(
                                            strangers(namespace, "br0", here()).stream()));
                    var hub = settings.namespace(Hub.NAME);
                    var here = Ways.device(place.name());
                    script.here(ways.removed(strangers(hub, here, reached())));
                    if (placed.flatMap(Placed::fixed).isEmpty()) {
                        placed = found();
                    }
                    replace(networks.get());
                    var rules = rules(networks.get());
                    tell(SegmentUpdate.looked(rules, placed.orElseThrow(), nextGeneration()));
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
            tell(change(networks));
        } catch (Failure e) {
            if (!isKnown) {
                throw e;
            }
            tell(change(networks)); // those of another version of the server, say
        }
    }

    private void tell(SegmentUpdate update) {
        put(
                update,
                () -> {
                    if (!update.lines().isEmpty()) {
                        script.nft(namespace, update.lines());
                    }
                });
    }

    /// @param first lines of shell to be run before the rules change
    /// @param last lines of shell to be run after that
    private void update(String first, String last, AccountNetworks networks) {
        var update = change(networks);
        put(update, () -> script.in(namespace, first + nft(update) + last));
    }

    private SegmentUpdate change(AccountNetworks networks) {
        return SegmentUpdate.of(rules(networks), placed, nextGeneration());
    }

    private SegmentRules rules(AccountNetworks networks) {
        var lines = known.of(networks, SegmentRules.VERDICT);
        return new SegmentRules(lines, taps.values(), mouths.values(), settings);
    }

    private int nextGeneration() {
        return generation % SegmentRules.GENERATIONS + 1;
    }

    private static String nft(SegmentUpdate update) {
        return update.lines().isEmpty()
                ? ""
                : "nft -f - <<'RULES'\n%sRULES\n".formatted(update.lines());
    }

    private void put(SegmentUpdate update, Runnable act) {
        generation = update.placed().generation();
        placed = Optional.empty();
        act.run();
        placed = Optional.of(update.placed());
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
