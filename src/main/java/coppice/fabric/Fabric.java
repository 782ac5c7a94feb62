package coppice.fabric;

import coppice.base.Code;
import coppice.base.Deadline;
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
import coppice.network.StaticRoute;
import coppice.network.Vpc;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    private static final int AT_ONCE = 2 * Runtime.getRuntime().availableProcessors();

    /// Where the platform answers to names, at its own address.
    public static final int RESOLVER_PORT = 53;

    private final FabricSettings settings;
    private final Networks networks;
    private final Public open;
    private final Segments segments;
    private final Passages passages;
    private final Late<Place> late = new Late<>(Place::name);
    private final Map<MemberId, Tap> taps = new ConcurrentHashMap<>();
    private final Map<IpAddress, Nic> slots = new ConcurrentHashMap<>();
    private final Counters counters = new Counters();

    private Fabric(FabricSettings settings, Networks networks, WireGuardEnd end) {
        this.settings = settings;
        this.networks = networks;
        this.open = Public.of(settings.ipv6());
        this.segments = new Segments(settings);
        this.passages = new Passages(settings, networks, segments, end);
    }

    /// Makes what all VMs share, or finds it there.
    public static Fabric start(FabricSettings settings, Networks networks, WireGuardEnd end) {
        var fabric = new Fabric(settings, networks, end);
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
        note(tap); // first, so that no change is missed between what the segment reads and this
        try {
            var segment =
                    segments.with(
                            Place.of(nic), s -> s.plug(tap, () -> networks.of(nic.account())));
            return new Plug(Script.path(segment.namespace()), tap.name(), nic.mac());
        } catch (Failure e) {
            unplug(nic.vm());
            throw e;
        }
    }

    /// Lets a VM's packets pass.
    public void open(MemberId vm) {
        var tap = taps.get(vm);
        if (tap != null) {
            segments.with(
                    Place.of(tap.nic()),
                    segment -> {
                        segment.open(tap);
                        return true;
                    });
        }
    }

    /// Takes a VM out. Does nothing to one that is not plugged in. What cannot be removed now is removed by the next start of the server.
    public void unplug(MemberId vm) {
        var tap = taps.remove(vm);
        if (tap != null) {
            slots.remove(settings.slot(tap.nic().slot()));
            try {
                segments.leave(
                        Place.of(tap.nic()),
                        segment -> segment.unplug(tap, () -> networks.of(tap.nic().account())));
            } catch (Failure e) {
                LOG.warn("{} was not taken out cleanly: {}", vm, e.getMessage());
            }
        }
    }

    /// The VM of a machine that was plugged in for nobody, alone. In a private network nothing passes its port until it is opened.
    public void handOver(Nic nic, Holder holder) {
        if (nic.membership().isPresent()) {
            move(new Tap(nic, holder));
            return;
        }
        adopt(nic, holder);
        var place = Place.of(nic);
        if (concerns(place, networks.of(nic.account()))) {
            apply(place, nic.account());
        }
    }

    /// The QEMU keeps its end, and stays in the namespace that it was started in, of which nothing else is left.
    private void move(Tap tap) {
        var alone = new Place.Alone(tap.nic().vm());
        note(tap);
        try {
            segments.with(
                    Place.of(tap.nic()),
                    segment ->
                            segment.take(
                                    tap,
                                    settings.namespace(alone.name()),
                                    () -> networks.of(tap.nic().account())));
        } finally {
            segments.leave(alone, segment -> segment.release(tap, () -> AccountNetworks.NONE));
        }
    }

    /// Tries again what could not be put in place before, and makes anew what has ended by itself. Is to be called every second or so.
    public void look() {
        late.waiting()
                .forEach(
                        place ->
                                account(place)
                                        .ifPresentOrElse(
                                                account -> apply(place, account),
                                                () -> late.forget(place)));
        passages.look(counters.passed(passages.namespaces().toList()).keySet());
    }

    /// What has passed the port of each VM since it was plugged in.
    public Map<MemberId, Passed> traffic() {
        var here = Map.copyOf(taps);
        var passed =
                counters.passed(
                        here.values().stream()
                                .map(tap -> settings.namespace(Place.of(tap.nic()).name()))
                                .distinct()
                                .map(Script::path)
                                .toList());
        var traffic = new HashMap<MemberId, Passed>();
        here.forEach(
                (vm, tap) -> {
                    var atPort = passed.get(tap.name());
                    if (atPort != null) {
                        traffic.put(vm, atPort);
                    }
                });
        return traffic;
    }

    /// Of the tunnels, as far as there is time to ask for it.
    public List<TunnelUse> tunnels(Deadline deadline) {
        return passages.use(deadline);
    }

    /// The routes that a guest needs to what is behind tunnels inside of its own network: Linux answers for a range of IPv4 addresses, but
    /// not of IPv6 ones.
    public static List<StaticRoute> routesInside(Nic nic, AccountNetworks networks) {
        return nic.membership().stream()
                .flatMap(
                        place ->
                                networks.tunnels().values().stream()
                                        .flatMap(
                                                tunnel ->
                                                        tunnel.attachment(place.vpc()).stream()
                                                                .map(a -> new Mouth(tunnel, a))))
                .flatMap(Mouth::routesInside)
                .toList();
    }

    public int mtu() {
        return settings.mtu();
    }

    /// Takes note of a VM that a former server plugged in and that runs.
    public void adopt(Nic nic, Holder holder) {
        var tap = new Tap(nic, holder);
        segments.with(Place.of(nic), segment -> segment.adopt(tap));
        note(tap);
    }

    private void note(Tap tap) {
        taps.put(tap.nic().vm(), tap);
        slots.put(settings.slot(tap.nic().slot()), tap.nic());
    }

    /// The VM whose packets have this source on the host's side.
    public Optional<Nic> at(IpAddress slot) {
        return Optional.ofNullable(slots.get(slot));
    }

    /// The host's own address towards its VMs.
    public IpAddress platform() {
        return settings.platform();
    }

    /// Removes what no VM that was adopted needs, and holds those to what the model says.
    ///
    /// @return the namespaces that were removed
    public List<String> sweep() {
        passages.start();
        var strangers = strangers();
        strangers.forEach(
                name -> settings.script().here(new SegmentNamespace(name, settings).removing()));
        for (var place : segments.places()) {
            account(place)
                    .ifPresent(
                            account ->
                                    segments.leave(
                                            place, s -> s.sweep(() -> networks.of(account))));
        }
        return strangers.stream().map(settings::namespace).toList();
    }

    /// Without a look at what others have: this is asked for every place with every change.
    private boolean isOf(Place place, AccountId account) {
        return switch (place) {
            case Place.Alone(var vm) -> {
                var tap = taps.get(vm);
                yield tap != null && tap.nic().account().equals(account);
            }
            case Place.InVpc(var vpc) -> networks.of(account).vpcs().containsKey(vpc);
        };
    }

    /// Whose a place is.
    private Optional<AccountId> account(Place place) {
        return switch (place) {
            case Place.Alone(var vm) ->
                    Optional.ofNullable(taps.get(vm)).map(t -> t.nic().account());
            case Place.InVpc(var vpc) ->
                    networks.all()
                            .flatMap(
                                    account ->
                                            Optional.ofNullable(account.vpcs().get(vpc)).stream())
                            .map(Vpc::account)
                            .findFirst();
        };
    }

    private List<String> strangers() {
        var known = passages.names().collect(Collectors.toSet());
        segments.places().forEach(place -> known.add(place.name()));
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

    /// A change that cannot be put in place everywhere is kept, and tried again; its caller hears that it is late.
    @Override
    public void changed(AccountId account, AccountNetworks before, AccountNetworks after) {
        boolean isDone = passages.change(before, after);
        var moved = moved(before, after);
        var then = touched(before, after.rules(), moved);
        var now = touched(after, before.rules(), moved);
        var concerned =
                segments.places().stream()
                        .filter(place -> isOf(place, account))
                        .filter(place -> concerns(place, then) || concerns(place, now))
                        .toList();
        if (!apply(concerned, account) || !isDone) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the change is kept, but packets are not held to it everywhere yet; it is tried again",
                    late.why().or(passages::why).orElse(null));
        }
    }

    /// Some at once: each waits for programs, and an account may have many.
    private boolean apply(List<Place> places, AccountId account) {
        if (places.size() < 2) {
            return places.stream().allMatch(place -> apply(place, account));
        }
        int atOnce = Math.min(places.size(), AT_ONCE);
        try (var threads = Executors.newFixedThreadPool(atOnce, Thread.ofVirtual().factory())) {
            var applied =
                    places.stream()
                            .map(
                                    place ->
                                            CompletableFuture.supplyAsync(
                                                    () -> apply(place, account), threads))
                            .toList();
            return applied.stream().map(CompletableFuture::join).reduce(true, Boolean::logicalAnd);
        }
    }

    /// @return whether it is in place
    private boolean apply(Place place, AccountId account) {
        return late.put(
                place,
                () -> segments.leave(place, segment -> segment.apply(() -> networks.of(account))));
    }

    /// The rules that others do not have, or that name what has changed.
    private static AccountNetworks touched(
            AccountNetworks networks, List<Rule> others, Set<Named> moved) {
        var rules = networks.rules();
        var kept = Kept.positions(rules, others);
        return networks.withRules(
                IntStream.range(0, kept.length)
                        .filter(i -> kept[i] < 0 || moved.stream().anyMatch(rules.get(i)::names))
                        .mapToObj(rules::get)
                        .toList());
    }

    /// What one of the two has otherwise than the other.
    private static Set<Named> moved(AccountNetworks before, AccountNetworks after) {
        var moved = new HashSet<Named>();
        Stream.of(before, after)
                .filter(_ -> before.nics() != after.nics()) // a change of rules leaves it the same
                .flatMap(networks -> networks.nics().values().stream())
                .filter(nic -> !before.nic(nic.vm()).equals(after.nic(nic.vm())))
                .forEach(
                        nic -> {
                            moved.add(new Named.Member(nic.vm()));
                            nic.membership()
                                    .ifPresent(place -> moved.add(new Named.Network(place.vpc())));
                        });
        return moved;
    }

    private boolean concerns(Place place, AccountNetworks networks) {
        return !networks.rules().isEmpty() && new RuleLines(place, networks, open).isOfUse();
    }

    /// Lets go of the networks; VMs go on in them.
    @Override
    public void close() {
        counters.close();
    }
}
