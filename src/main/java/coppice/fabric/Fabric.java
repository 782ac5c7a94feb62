package coppice.fabric;

import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Named;
import coppice.network.NetworkListener;
import coppice.network.Networks;
import coppice.network.Nic;
import coppice.network.Rule;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The door of this package: where VMs are plugged in. Thread-safe.
///
/// A VM is plugged in before its QEMU starts, its port is opened when the guest is itself, and it is taken out when its QEMU has ended.
/// What it may do is heard from [Networks] whenever that changes. Everything is found again by the next server, which says what it still
/// wants by [#adopt] and has the rest removed by [#sweep]. Failures are `UNAVAILABLE`.
public final class Fabric implements NetworkListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Fabric.class);

    /// What a VM in no private network has as its IPv4 address: all the same, since each is alone.
    public static final IpAddress SOLO = IpAddress.stored("192.0.0.2");

    /// Of the network of a VM that is alone.
    public static final int SOLO_PREFIX = 29;

    /// The next hop of every guest's IPv4 default route, and its name server.
    public static final IpAddress GATEWAY = IpAddress.stored("192.0.0.1");

    /// The next hop of every guest's IPv6 default route.
    public static final IpAddress GATEWAY_V6 = IpAddress.stored("fe80::1");

    private final FabricSettings settings;
    private final Networks networks;
    private final Map<Place, Segment> segments = new ConcurrentHashMap<>();
    private final Map<MemberId, Tap> taps = new ConcurrentHashMap<>();
    private final Counters counters = new Counters();

    private Fabric(FabricSettings settings, Networks networks) {
        this.settings = settings;
        this.networks = networks;
    }

    /// Makes what all VMs share, or finds it there.
    public static Fabric start(FabricSettings settings, Networks networks) {
        var fabric = new Fabric(settings, networks);
        new Hub(settings).start();
        networks.listen(fabric);
        return fabric;
    }

    /// What a QEMU is started with.
    ///
    /// @param namespace that it has to be in
    /// @param tap that it opens, of the user it was made for
    public record Plug(Path namespace, String tap, String mac) {}

    /// Makes a VM's port. Nothing passes it until it is opened.
    ///
    /// @param holder who is at its other end
    public Plug plug(Nic nic, Holder holder) {
        var tap = new Tap(nic, holder);
        var place = Place.of(nic);
        Segment segment;
        // First, so that no change is missed between what the segment reads and this.
        taps.put(nic.vm(), tap);
        do {
            segment = segments.computeIfAbsent(place, here -> new Segment(here, settings));
        } while (!plug(segment, place, tap));
        return new Plug(Script.path(segment.namespace()), tap.name(), nic.mac());
    }

    private boolean plug(Segment segment, Place place, Tap tap) {
        try {
            boolean isPlugged = segment.plug(tap, () -> networks.of(tap.nic().account()));
            if (!isPlugged) {
                segments.remove(place, segment);
            }
            return isPlugged;
        } catch (Failure e) {
            taps.remove(tap.nic().vm(), tap);
            unplug(segment, place, tap);
            throw e;
        }
    }

    /// Lets a VM's packets pass.
    public void open(MemberId vm) {
        var tap = taps.get(vm);
        if (tap != null) {
            segments.get(Place.of(tap.nic())).open(tap);
        }
    }

    /// Takes a VM out. Does nothing to one that is not plugged in. What cannot be removed now is removed by the next start of the server.
    public void unplug(MemberId vm) {
        var tap = taps.remove(vm);
        if (tap != null) {
            var place = Place.of(tap.nic());
            unplug(segments.get(place), place, tap);
        }
    }

    private void unplug(Segment segment, Place place, Tap tap) {
        try {
            if (segment.unplug(tap, () -> networks.of(tap.nic().account()))) {
                segments.remove(place, segment);
            }
        } catch (Failure e) {
            LOG.warn("{} was not taken out cleanly: {}", tap.nic().vm(), e.getMessage());
        }
    }

    /// The VM of a machine that was plugged in for nobody.
    public void handOver(Nic nic, Holder holder) {
        adopt(nic, holder);
        var networks = this.networks.of(nic.account());
        var place = Place.of(nic);
        if (concerns(place, networks)) {
            segments.get(place).apply(() -> this.networks.of(nic.account()));
        }
    }

    /// How many bytes have passed the port of each VM, in both directions, since it was plugged in.
    public Map<MemberId, Long> traffic() {
        var here = Map.copyOf(taps);
        var bytes =
                counters.bytes(
                        here.values().stream()
                                .map(tap -> settings.namespace(Place.of(tap.nic()).name()))
                                .distinct()
                                .map(Script::path)
                                .toList());
        var traffic = new HashMap<MemberId, Long>();
        here.forEach(
                (vm, tap) -> {
                    var passed = bytes.get(tap.name());
                    if (passed != null) {
                        traffic.put(vm, passed);
                    }
                });
        return traffic;
    }

    public int mtu() {
        return settings.mtu();
    }

    /// Takes note of a VM that a former server plugged in and that runs.
    public void adopt(Nic nic, Holder holder) {
        var tap = new Tap(nic, holder);
        segments.computeIfAbsent(Place.of(nic), here -> new Segment(here, settings)).adopt(tap);
        taps.put(nic.vm(), tap);
    }

    /// Removes what no VM that was adopted needs, and holds those to what the model says.
    ///
    /// @return the namespaces that were removed
    public List<String> sweep() {
        var strangers = strangers();
        strangers.forEach(name -> Segment.remove(settings, name));
        segments.values().forEach(segment -> segment.sweep(() -> accountOf(segment)));
        return strangers.stream().map(settings::namespace).toList();
    }

    private AccountNetworks accountOf(Segment segment) {
        return taps.values().stream()
                .filter(tap -> segments.get(Place.of(tap.nic())) == segment)
                .findFirst()
                .map(tap -> networks.of(tap.nic().account()))
                .orElse(AccountNetworks.NONE);
    }

    private List<String> strangers() {
        var known = segments.keySet().stream().map(Place::name).collect(Collectors.toSet());
        return places(settings.instance()).stream().filter(name -> !known.contains(name)).toList();
    }

    /// What there are namespaces of: ids of VMs and of private networks.
    ///
    /// @param instance as in [FabricSettings]
    public static List<String> places(String instance) {
        var prefix = FabricSettings.namespace(instance, "");
        return Script.names(prefix).stream()
                .map(name -> name.substring(prefix.length()))
                .filter(name -> !name.equals(Hub.NAME))
                .toList();
    }

    /// Takes everything away. No server may run, and no VM.
    public static void remove(FabricSettings settings) {
        Script.names(settings.namespace("")).stream()
                .filter(name -> !name.equals(settings.namespace(Hub.NAME)))
                .forEach(name -> settings.script().here("ip netns del %s\n".formatted(name)));
        new Hub(settings).remove();
    }

    @Override
    public void changed(AccountId account, AccountNetworks before, AccountNetworks after) {
        var then = before.withRules(touched(before, before, after));
        var now = after.withRules(touched(after, before, after));
        for (var place : places(account)) {
            var segment = segments.get(place);
            if (segment != null && (concerns(place, then) || concerns(place, now))) {
                segment.apply(() -> networks.of(account));
            }
        }
    }

    /// The rules of one of the two that the other has not, or that name what one has otherwise than the other.
    private static List<Rule> touched(
            AccountNetworks of, AccountNetworks before, AccountNetworks after) {
        var kept = new HashSet<>(before.rules());
        kept.retainAll(after.rules());
        var moved = new HashSet<Named>();
        Stream.of(before, after)
                .flatMap(networks -> networks.nics().values().stream())
                .filter(nic -> !before.nic(nic.vm()).equals(after.nic(nic.vm())))
                .forEach(
                        nic -> {
                            moved.add(new Named.Member(nic.vm()));
                            nic.membership()
                                    .ifPresent(place -> moved.add(new Named.Network(place.vpc())));
                        });
        return of.rules().stream()
                .filter(rule -> !kept.contains(rule) || moved.stream().anyMatch(rule::names))
                .toList();
    }

    private boolean concerns(Place place, AccountNetworks networks) {
        return !networks.rules().isEmpty()
                && new RuleLines(place, networks, Public.of(settings.ipv6())).isOfUse();
    }

    private Set<Place> places(AccountId account) {
        return taps.values().stream()
                .filter(tap -> tap.nic().account().equals(account))
                .map(tap -> Place.of(tap.nic()))
                .collect(Collectors.toSet());
    }

    /// Lets go of the networks; VMs go on in them.
    @Override
    public void close() {
        counters.close();
    }
}
