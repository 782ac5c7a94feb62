package coppice.api.legacy;

import static coppice.api.Method.GET;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.identity.AccountId;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Activity;
import coppice.vm.DeletedVm;
import coppice.vm.Persistence;
import coppice.vm.Vm;
import coppice.vm.VmFilter;
import coppice.vm.Vms;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// VMs as the legacy family shows them.
final class LegacyListing {
    private static final VmFilter ALL =
            new VmFilter(Optional.empty(), Optional.empty(), Optional.empty(), Map.of());

    private final Vms vms;
    private final VmRights rights;

    LegacyListing(Vms vms, VmRights rights) {
        this.vms = vms;
        this.rights = rights;
    }

    List<Route> routes() {
        return List.of(
                Route.legacy(GET, "/v1/vms", "legacyListVms", this::list)
                        .about("Legacy", "List VMs, newest first")
                        .query(
                                "includeDeleted",
                                Schema.bool(),
                                "Those that were deleted within a day too.")
                        .paged()
                        .returns(LegacyVmSchemas.LIST),
                Route.legacy(GET, "/v1/vms/{vm_id}", "legacyGetVm", this::get)
                        .about("Legacy", "Get a VM")
                        .returns(LegacyVmSchemas.VM)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .forIdentities());
    }

    /// The word for a state here.
    static String word(String state) {
        return switch (state) {
            case "pausing" -> "suspending";
            case "paused" -> "suspended";
            default -> state;
        };
    }

    /// What is sorted and counted before it is written.
    private record Item(String id, Instant createdAt, String state, Supplier<JsonWriter> json) {}

    private Reply list(Call call) {
        var account = LegacyVmRoutes.account(call);
        boolean isDeletedToo = call.query().bool("includeDeleted").orElse(false);
        var items =
                Stream.concat(live(account), isDeletedToo ? deleted(account) : Stream.<Item>empty())
                        .sorted(
                                Comparator.comparing(Item::createdAt)
                                        .thenComparing(Item::id)
                                        .reversed())
                        .toList();
        var page = call.page().of(items).stream().map(item -> item.json().get()).toList();
        var reply = new JsonWriter().put("vms", page).put("totalCount", items.size());
        for (var state : List.of("running", "starting", "suspended", "stopped")) {
            long count = items.stream().filter(item -> item.state().equals(state)).count();
            reply.put(state + "Count", count);
        }
        return Reply.ok(reply.putOrNull("userId", Optional.empty()));
    }

    private Stream<Item> live(AccountId account) {
        return vms.list(account, ALL, 0, Integer.MAX_VALUE).vms().stream()
                .map(
                        vm ->
                                new Item(
                                        vm.id().text(),
                                        vm.createdAt(),
                                        word(vm.state().word()),
                                        () -> item(vm)));
    }

    private Stream<Item> deleted(AccountId account) {
        return vms.deleted().of(account).stream()
                .map(vm -> new Item(vm.id().text(), vm.createdAt(), "stopped", () -> item(vm)));
    }

    private JsonWriter item(Vm vm) {
        return new JsonWriter()
                .put("id", vm.id().text())
                .putOrNull("vmInstanceId", LegacyVms.instance(vm))
                .put("state", word(vm.state().word()))
                .putOrNull("metrics", Optional.empty())
                .put("createdAt", vm.createdAt())
                .putOrNull("lastNetworkActivity", vms.activity(vm.id()).flatMap(Activity::last))
                .putOrNull("cpuTimeSeconds", cpuTime(vm))
                .put("persistence", persistence(vm.legacy().persistence()))
                .put("snapshotId", vm.origin().snapshot().text())
                .put("deleted", false)
                .put("createdDeclaratively", vm.legacy().isDeclared());
    }

    private static JsonWriter item(DeletedVm vm) {
        return new JsonWriter()
                .put("id", vm.id().text())
                .putOrNull("vmInstanceId", Optional.empty())
                .put("state", "stopped")
                .putOrNull("metrics", Optional.empty())
                .put("createdAt", vm.createdAt())
                .putOrNull("lastNetworkActivity", Optional.empty())
                .putOrNull("cpuTimeSeconds", Optional.empty())
                .put("persistence", persistence(vm.persistence()))
                .put("snapshotId", vm.snapshot().text())
                .put("deleted", true)
                .put("createdDeclaratively", vm.isDeclared());
    }

    private Reply get(Call call) {
        var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
        LegacyVms.users(rights, call, vm);
        return Reply.ok(
                new JsonWriter()
                        .put("id", vm.id().text())
                        .putOrNull("vmInstanceId", LegacyVms.instance(vm))
                        .putOrNull(
                                "lastNetworkActivity",
                                vms.activity(vm.id()).flatMap(Activity::last))
                        .put("state", word(vm.state().word()))
                        .putOrNull("cpuTimeSeconds", cpuTime(vm)));
    }

    private Optional<BigDecimal> cpuTime(Vm vm) {
        return vms.cpuTime(vm.id()).map(LegacyListing::seconds);
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis())
                .divide(BigDecimal.valueOf(1000), 2, RoundingMode.HALF_UP);
    }

    static JsonWriter persistence(Persistence persistence) {
        return switch (persistence) {
            case Persistence.Sticky(int priority) ->
                    new JsonWriter().put("type", "sticky").put("priority", priority);
            case Persistence.Persistent _ -> new JsonWriter().put("type", "persistent");
            case Persistence.Ephemeral(var event) ->
                    new JsonWriter()
                            .put("type", "ephemeral")
                            .put(
                                    "deleteEvent",
                                    event == Persistence.Event.STOP ? "OnStop" : "OnSuspend");
        };
    }
}
