package coppice.fabric;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.Attachment;
import coppice.network.Networks;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/// The tunnels of this host as packets meet them. Each is there for as long as its record, whether VMs run or not. One that cannot be made
/// what it should be, or whose WireGuard has ended, is tried again with each look. Thread-safe.
final class Passages {
    private final FabricSettings settings;
    private final Networks networks;
    private final Segments segments;
    private final WireGuardEnd end;
    private final Map<TunnelId, Placed> all = new ConcurrentHashMap<>();
    private final Late<TunnelId> late = new Late<>(TunnelId::text);

    /// One that is there, maybe in part.
    ///
    /// @param mouths by which it is in networks
    private record Placed(
            AccountId account,
            Passage passage,
            Map<Attachment, Mouth> mouths,
            ReentrantLock lock) {}

    Passages(FabricSettings settings, Networks networks, Segments segments, WireGuardEnd end) {
        this.settings = settings;
        this.networks = networks;
        this.segments = segments;
        this.end = end;
    }

    /// Makes those that there should be, or finds them there: clients go on.
    void start() {
        networks.all()
                .flatMap(account -> account.tunnels().values().stream())
                .forEach(tunnel -> put(placed(tunnel), tunnel.id()));
    }

    /// Why one was late last.
    Optional<Failure> why() {
        return late.why();
    }

    Stream<String> names() {
        return all.keySet().stream().map(TunnelId::text);
    }

    /// Where their interfaces are, which [#look] wants to see.
    Stream<Path> namespaces() {
        return all.values().stream().map(placed -> Script.path(placed.passage().namespace()));
    }

    /// Puts in place what differs between the two.
    ///
    /// @return whether all of it is
    boolean change(AccountNetworks before, AccountNetworks after) {
        var tunnels = new HashMap<>(before.tunnels());
        tunnels.putAll(after.tunnels());
        return tunnels.values().stream()
                .filter(
                        t ->
                                !Objects.equals(
                                        before.tunnels().get(t.id()), after.tunnels().get(t.id())))
                .map(tunnel -> put(placed(tunnel), tunnel.id()))
                .reduce(true, Boolean::logicalAnd);
    }

    /// Tries one that is late again, and one whose interface is gone.
    ///
    /// @param interfaces in the [#namespaces]
    void look(Collection<String> interfaces) {
        all.entrySet().stream()
                .filter(e -> !e.getValue().lock().isLocked())
                .filter(e -> !interfaces.contains(e.getValue().passage().device()))
                .map(Map.Entry::getKey)
                .findAny()
                .or(() -> late.waiting().stream().findFirst())
                .ifPresent(
                        id ->
                                Optional.ofNullable(all.get(id))
                                        .ifPresent(placed -> put(placed, id)));
    }

    /// What there is time for. One whose interface is gone has no use.
    List<TunnelUse> use(Deadline deadline) {
        var uses = new ArrayList<TunnelUse>();
        all.forEach(
                (id, placed) -> {
                    if (!deadline.isPast()) {
                        placed.passage().use(id, placed.account()).ifPresent(uses::add);
                    }
                });
        return uses;
    }

    private Placed placed(Tunnel tunnel) {
        return all.computeIfAbsent(
                tunnel.id(),
                _ ->
                        new Placed(
                                tunnel.account(),
                                new Passage(tunnel, settings, end),
                                new HashMap<>(),
                                new ReentrantLock()));
    }

    /// Makes it what its record is by now.
    private boolean put(Placed placed, TunnelId id) {
        return late.put(
                id,
                () -> {
                    placed.lock().lock();
                    try {
                        var tunnel = networks.of(placed.account()).tunnels().get(id);
                        detach(placed, tunnel == null ? List.of() : tunnel.attachments());
                        if (tunnel == null) {
                            placed.passage().remove();
                            all.remove(id);
                        } else {
                            make(placed, tunnel);
                        }
                    } finally {
                        placed.lock().unlock();
                    }
                });
    }

    private void make(Placed placed, Tunnel tunnel) {
        var passage = placed.passage();
        passage.make(tunnel);
        for (var attachment : tunnel.attachments()) {
            var mouth = new Mouth(tunnel, attachment);
            placed.mouths().put(attachment, mouth);
            segments.with(
                    new Place.InVpc(attachment.vpc()),
                    segment ->
                            segment.attach(
                                    mouth,
                                    passage.namespace(),
                                    () -> networks.of(tunnel.account())));
        }
        passage.connect(tunnel);
    }

    /// @param but the attachments that stay
    private void detach(Placed placed, List<Attachment> but) {
        for (var mouth : List.copyOf(placed.mouths().values())) {
            if (!but.contains(mouth.attachment())) {
                segments.leave(
                        new Place.InVpc(mouth.attachment().vpc()),
                        segment -> segment.detach(mouth, () -> networks.of(placed.account())));
                placed.mouths().remove(mouth.attachment());
            }
        }
    }
}
