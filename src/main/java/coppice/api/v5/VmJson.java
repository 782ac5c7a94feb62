package coppice.api.v5;

import coppice.base.IpAddress;
import coppice.json.JsonWriter;
import coppice.network.MemberId;
import coppice.network.Networks;
import coppice.network.Nic;
import coppice.vm.Activity;
import coppice.vm.Placement;
import coppice.vm.SnapshotId;
import coppice.vm.Snapshots;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// VM objects as they are answered.
final class VmJson {
    private final Vms vms;
    private final Networks networks;
    private final Optional<String> egress;

    /// @param egress the address with which VMs appear in the IPv4 Internet, if it is known
    VmJson(Vms vms, Networks networks, Optional<IpAddress> egress) {
        this.vms = vms;
        this.networks = networks;
        this.egress = egress.map(IpAddress::toString);
    }

    JsonWriter write(Vm vm) {
        return write(vm, vms.snapshots()::label);
    }

    /// Many VMs, of which many come from one snapshot.
    List<JsonWriter> writeAll(List<Vm> all) {
        var labels = new HashMap<SnapshotId, Optional<Snapshots.Label>>();
        return all.stream()
                .map(vm -> write(vm, id -> labels.computeIfAbsent(id, vms.snapshots()::label)))
                .toList();
    }

    private JsonWriter write(Vm vm, Function<SnapshotId, Optional<Snapshots.Label>> labels) {
        var settings = vm.settings();
        var label = labels.apply(vm.origin().snapshot());
        var json =
                new JsonWriter()
                        .put("id", vm.id().text())
                        .put("state", vm.state().word())
                        .put("slug", settings.slug().map(Object::toString))
                        .put("displayName", settings.displayName())
                        .put("resources", SnapshotJson.resources(vm.hardware().resources()))
                        .put("snapshotId", vm.origin().snapshot().text())
                        .put("sourceSnapshotSlugAtCreate", vm.origin().snapshotSlug())
                        .put("sourceSnapshotSlug", label.flatMap(l -> l.slugFor(vm.account())))
                        .put(
                                "sourceSnapshotDisplayName",
                                label.flatMap(Snapshots.Label::displayName));
        var timers = settings.timers();
        putSeconds(json, "idleTimeoutSeconds", timers.idle());
        putSeconds(json, "autoDeleteSeconds", timers.autoDelete());
        putSeconds(json, "ttlSeconds", timers.ttl());
        putSeconds(json, "maxRunSeconds", timers.maxRun());
        putSeconds(json, "maxRunTotalSeconds", timers.maxRunTotal());
        putNetworks(json, vm);
        return json.put("autoDeleteFromPlan", false)
                .put("totalRunSeconds", vm.totalRun(vms.now()).toSeconds())
                .put("automaticRestart", settings.automaticRestart())
                .put("metadata", settings.metadata())
                .put("placement", placement(vm.origin().placement()))
                .put("cpuTimeSeconds", vms.cpuTime(vm.id()).map(VmJson::seconds))
                .put("lastNetworkActivity", vms.activity(vm.id()).flatMap(Activity::last))
                .put("createdAt", vm.createdAt())
                .put("updatedAt", vm.updatedAt());
    }

    private void putNetworks(JsonWriter json, Vm vm) {
        var member = new MemberId(vm.id().text());
        var known = networks.of(vm.account());
        var publicIpv6 = known.nic(member).flatMap(Nic::publicIpv6).map(IpAddress::toString);
        var places = PlaceJson.write(member, known);
        json.put("publicIpv6", publicIpv6)
                .put("egressIpv4", egress)
                .put("egressIpv6", publicIpv6)
                .put("vpcs", places)
                .put("networks", places);
    }

    private static Optional<JsonWriter> placement(Placement placement) {
        if (placement.antiAffinity().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                new JsonWriter()
                        .put(
                                "antiAffinity",
                                placement.antiAffinity().stream().map(VmJson::rule).toList()));
    }

    private static JsonWriter rule(Map<String, String> labels) {
        return new JsonWriter()
                .put("topology", "node")
                .put("selector", Map.of("matchLabels", labels));
    }

    private static void putSeconds(JsonWriter json, String field, Optional<Duration> timer) {
        json.put(field, timer.map(Duration::toSeconds));
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis())
                .divide(BigDecimal.valueOf(1000), 2, RoundingMode.HALF_UP);
    }
}
