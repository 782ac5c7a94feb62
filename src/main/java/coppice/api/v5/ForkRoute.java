package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.network.Networks;
import coppice.vm.NewFork;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// `fork`: copies a VM into new ones.
final class ForkRoute {
    private static final Schema.ObjectOf FORK =
            Schema.object("ForkVm")
                    .field("count", Schema.integer(), OPTIONAL, "1 to 10; default 1.")
                    .field(
                            "firewall",
                            FirewallSchemas.INLINE,
                            OPTIONAL,
                            "What each copy may reach and who may reach it; default nothing.")
                    .field("displayName", Schema.string(), OPTIONAL, "Default the source's.")
                    .field(
                            "metadata",
                            Schema.map(Schema.string()),
                            OPTIONAL,
                            "In place of the source's.");

    private static final Schema FORKED =
            Schema.object("ForkedVm")
                    .field("sourceVmId", Schema.string(), ALWAYS, "")
                    .field("vms", Schema.list(VmSchemas.VM), ALWAYS, "The copies.");

    private final Vms vms;
    private final Networks networks;
    private final VmJson json;

    ForkRoute(Vms vms, Networks networks, VmJson json) {
        this.vms = vms;
        this.networks = networks;
        this.json = json;
    }

    Route route() {
        return Route.v5(Method.POST, "/vms/{vm}/fork", "forkVm", this::fork)
                .creates()
                .about("VMs", "Copy a VM, memory and disk, into new VMs; all of them or none")
                .takes(FORK, Examples.FORK_VM)
                .returns(FORKED)
                .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                .fails(Code.TOTAL_VM_LIMIT_EXCEEDED, "the account's limit of VMs")
                .fails(Code.NOT_FOUND, "the VM or a named resource is absent")
                .fails(Code.CONFLICT, "it is starting or pausing, or there is no capacity")
                .fails(Code.UNAVAILABLE, "the copies did not come up and are removed")
                .fails(Code.VM_START_TIMEOUT, "the copies were not ready in time");
    }

    private Reply fork(Call call) {
        var body = call.body();
        var account = VmRoutes.account(call);
        var source = vms.get(account, call.path("vm")).id();
        int count = BodyFields.whole(body, "count", 1, NewFork.MAX_COUNT).orElse(1);
        var settings = settings(body);
        var rules = RuleFields.ofVmIfAny(body, Names.of(account, vms, networks));
        var forked =
                vms.fork(
                        account,
                        source.text(),
                        new NewFork(count, settings, rules, _ -> Vm.Legacy.NONE, Optional.empty()));
        return Reply.ok(
                new JsonWriter()
                        .put("sourceVmId", forked.source().id().text())
                        .put("vms", json.writeAll(forked.copies())));
    }

    /// What is sent takes the place of what the copies would take over.
    private static UnaryOperator<Vm.Settings> settings(JsonObject body) {
        var name =
                body.string("displayName")
                        .filter(text -> !text.isEmpty())
                        .flatMap(_ -> BodyFields.label(body, "displayName", Optional.empty()));
        var metadata =
                body.has("metadata")
                        ? Optional.of(VmFields.metadata(body, Map.of()))
                        : Optional.<Map<String, String>>empty();
        return copied ->
                new Vm.Settings(
                        copied.slug(),
                        name.or(copied::displayName),
                        copied.timers(),
                        copied.automaticRestart(),
                        metadata.orElse(copied.metadata()));
    }
}
