package coppice.fabric;

import coppice.network.AccountNetworks;
import coppice.network.Networks;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// The tunnels of this host as packets meet them. Each is there for as long as its record, whether VMs run or not. Thread-safe.
final class Passages {
    private final FabricSettings settings;
    private final Networks networks;
    private final Segments segments;
    private final WireGuardEnd end;
    private final Map<TunnelId, Passage> all = new ConcurrentHashMap<>();

    Passages(FabricSettings settings, Networks networks, Segments segments, WireGuardEnd end) {
        this.settings = settings;
        this.networks = networks;
        this.segments = segments;
        this.end = end;
    }

    /// Makes those that there should be, or finds them there: clients go on.
    void start() {
        networks.all().flatMap(account -> account.tunnels().values().stream()).forEach(this::make);
    }

    Stream<String> names() {
        return all.keySet().stream().map(TunnelId::text);
    }

    /// Makes what differs between the two what it is in the second.
    void change(AccountNetworks before, AccountNetworks after) {
        for (var tunnel : before.tunnels().values()) {
            var now = after.tunnels().get(tunnel.id());
            if (!tunnel.equals(now)) {
                gone(tunnel, now).forEach(this::detach);
                if (now == null) {
                    remove(tunnel);
                }
            }
        }
        for (var tunnel : after.tunnels().values()) {
            if (!tunnel.equals(before.tunnels().get(tunnel.id()))) {
                make(tunnel);
            }
        }
    }

    /// @param now absent: null
    private static List<Mouth> gone(Tunnel before, Tunnel now) {
        return before.attachments().stream()
                .filter(a -> now == null || !now.attachments().contains(a))
                .map(a -> new Mouth(before, a))
                .toList();
    }

    private void make(Tunnel tunnel) {
        var passage =
                all.computeIfAbsent(tunnel.id(), _ -> new Passage(tunnel, settings, end.key()));
        passage.make(tunnel, end.port(tunnel));
        for (var attachment : tunnel.attachments()) {
            segments.with(
                    new Place.InVpc(attachment.vpc()),
                    segment ->
                            segment.attach(
                                    new Mouth(tunnel, attachment),
                                    passage.namespace(),
                                    () -> networks.of(tunnel.account())));
        }
        passage.connect(tunnel);
    }

    private void detach(Mouth mouth) {
        segments.leave(
                new Place.InVpc(mouth.attachment().vpc()),
                segment -> segment.detach(mouth, () -> networks.of(mouth.tunnel().account())));
    }

    private void remove(Tunnel tunnel) {
        var passage = all.remove(tunnel.id());
        if (passage != null) {
            passage.remove();
        }
    }
}
