package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Size;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.network.Networks;
import coppice.network.NewNic;
import coppice.vm.Growth;
import coppice.vm.NewVm;
import coppice.vm.Vm;
import coppice.vm.VmFilter;
import coppice.vm.Vms;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/// The operations on VMs.
public final class VmRoutes {
    private final Vms vms;
    private final Networks networks;
    private final VmRights rights;
    private final VmJson json;
    private final ExecRoute exec;

    /// @param egress the address with which VMs appear in the IPv4 Internet, if it is known
    public VmRoutes(Vms vms, Networks networks, Optional<IpAddress> egress, VmRights rights) {
        this.vms = vms;
        this.rights = rights;
        this.networks = networks;
        this.json = new VmJson(vms, networks, egress);
        this.exec = new ExecRoute(vms, rights);
    }

    public List<Route> routes() {
        return List.of(
                createRoute(),
                listRoute(),
                Route.v5(GET, "/vms/{vm}", "getVm", this::get)
                        .about("VMs", "Get a VM")
                        .returns(VmSchemas.VM)
                        .forIdentities(),
                Route.v5(PATCH, "/vms/{vm}", "updateVm", this::update)
                        .about("VMs", "Change a VM's settings")
                        .takes(VmSchemas.UPDATE)
                        .returns(VmSchemas.VM)
                        .fails(Code.CONFLICT, "slug taken")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                Route.v5(DELETE, "/vms/{vm}", "deleteVm", this::delete)
                        .about("VMs", "Delete a VM at once, in any state")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                action("start", "startVm", "Start a VM, or resume it", vms::start)
                        .fails(Code.CONFLICT, "run budget spent, or no capacity")
                        .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                        .fails(Code.VM_START_TIMEOUT, "not ready in time")
                        .fails(Code.UNAVAILABLE, "it did not come up"),
                action("pause", "pauseVm", "Pause a VM: its memory is kept on disk", vms::pause)
                        .fails(Code.CONFLICT, "it is stopped or starting")
                        .fails(Code.UNAVAILABLE, "its memory could not be saved; it goes on")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                action("stop", "stopVm", "Power a VM off; cut after 30 s", vms::stop)
                        .fails(Code.CONFLICT, "it is starting or pausing")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                action("kill", "killVm", "Cut a VM at once, in any state", vms::kill)
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                resizeRoute(),
                exec.route(),
                new ForkRoute(vms, networks, json).route());
    }

    private Reply get(Call call) {
        var name = call.path("vm");
        var vm = vms.get(account(call), name);
        rights.require(call.caller(), vm.id().text(), () -> Vms.absent(name));
        return Reply.ok(json.write(vm));
    }

    private Route createRoute() {
        return Route.v5(POST, "/vms", "createVm", this::create)
                .creates()
                .about("VMs", "Create a VM from a snapshot")
                .takes(VmSchemas.CREATE, Examples.CREATE_VM)
                .returns(VmSchemas.CREATED_VM)
                .fails(Code.BAD_REQUEST, "firewall is missing, or a field is wrong")
                .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                .fails(Code.TOTAL_VM_LIMIT_EXCEEDED, "the account's limit of VMs")
                .fails(Code.NOT_FOUND, "the snapshot or a named resource is absent")
                .fails(Code.CONFLICT, "slug taken, no capacity, or placement not satisfiable")
                .fails(Code.UNAVAILABLE, "the VM did not come up and is removed")
                .fails(Code.VM_START_TIMEOUT, "the VM was not ready in time and is removed");
    }

    private Route listRoute() {
        return Route.v5(GET, "/vms", "listVms", this::list)
                .about("VMs", "List VMs, newest first")
                .query("state", Schema.word(VmSchemas.STATES), "Only VMs in this state.")
                .query("slug", Schema.string(), "Only the VM with this slug.")
                .query(
                        "snapshotId",
                        Schema.string(),
                        "Only VMs made from this snapshot: id, slug or owner/slug.")
                .query("metadata", Schema.string(), "key:value,key:value; all must match.")
                .paged()
                .returns(VmSchemas.VM_LIST)
                .fails(Code.NOT_FOUND, "the snapshot slug is unknown");
    }

    private Route resizeRoute() {
        return Route.v5(POST, "/vms/{vm}/resize", "resizeVm", this::resize)
                .about("VMs", "Give a VM more processors, memory or storage")
                .takes(VmSchemas.RESIZE, Examples.RESIZE_VM)
                .returns(VmSchemas.VM)
                .fails(Code.BAD_REQUEST, "smaller than now, above a ceiling, or no field")
                .fails(Code.CONFLICT, "it cannot grow that far in this state")
                .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on");
    }

    private Route action(
            String verb, String id, String summary, BiFunction<AccountId, String, Vm> act) {
        return Route.v5(
                        POST,
                        "/vms/{vm}/" + verb,
                        id,
                        call -> Reply.ok(json.write(act.apply(account(call), call.path("vm")))))
                .about("VMs", summary)
                .returns(VmSchemas.VM);
    }

    private Reply create(Call call) {
        var body = call.body();
        var account = account(call);
        var rules = RuleFields.ofVm(body);
        var place = PlaceFields.of(body);
        var settings = VmFields.settings(body, Vm.Settings.NONE);
        boolean reassigns = VmFields.reassigns(body);
        var placement = VmFields.placement(body);
        requireNoTlsYet(body);
        var names = Names.of(account, vms, networks);
        var nic = new NewNic(place.map(sent -> sent.named(names)), RuleFields.named(rules, names));
        var created =
                vms.create(
                        account,
                        new NewVm(body.string("snapshotId"), settings, reassigns, placement, nic));
        return Reply.ok(
                json.write(created.vm())
                        .put(
                                "firewallRules",
                                RuleJson.of(account, vms, networks).writeAll(created.rules()))
                        .put("tlsRules", List.of()));
    }

    /// TLS rules are read and checked for their shape, and refused as not there yet.
    private static void requireNoTlsYet(JsonObject body) {
        body.object("tls")
                .ifPresent(
                        tls -> {
                            tls.refuseFieldsExcept("rules");
                            if (!tls.objects("rules").orElse(List.of()).isEmpty()) {
                                throw new Failure(
                                        Code.UNAVAILABLE,
                                        "tls: this server has no TLS rules yet; leave it out");
                            }
                        });
    }

    private Reply list(Call call) {
        var query = call.query();
        var filter =
                new VmFilter(
                        query.text("state"),
                        query.text("slug"),
                        query.text("snapshotId"),
                        metadata(query.text("metadata")));
        var page = call.page();
        var listing = vms.list(account(call), filter, page.offset(), page.limit());
        var reply =
                new JsonWriter()
                        .put("vms", json.writeAll(listing.vms()))
                        .put("totalCount", listing.total());
        for (var state : List.of("running", "starting", "pausing", "paused", "stopped")) {
            reply.put(state + "Count", listing.counts().getOrDefault(state, 0L));
        }
        return Reply.ok(reply);
    }

    /// `key:value,key:value`: split at commas, then each at its first colon.
    private static Map<String, String> metadata(Optional<String> text) {
        var labels = new LinkedHashMap<String, String>();
        for (var pair : text.map(t -> t.split(",", -1)).orElse(new String[0])) {
            int colon = pair.indexOf(':');
            if (colon < 1) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "query parameter metadata must be key:value pairs with commas between them");
            }
            labels.put(pair.substring(0, colon), pair.substring(colon + 1));
        }
        return labels;
    }

    private Reply update(Call call) {
        var name = call.path("vm");
        vms.get(account(call), name);
        boolean reassigns = VmFields.reassigns(call.body());
        return Reply.ok(
                json.write(
                        vms.update(
                                account(call),
                                name,
                                before -> VmFields.settings(call.body(), before),
                                reassigns)));
    }

    private Reply delete(Call call) {
        vms.delete(account(call), call.path("vm"));
        return Reply.noContent();
    }

    private Reply resize(Call call) {
        var body = call.body();
        vms.get(account(call), call.path("vm"));
        var growth =
                new Growth(
                        body.integer("cpu").map(cpu -> Math.toIntExact(positive(body, "cpu", cpu))),
                        body.integer("memory")
                                .map(mib -> Size.ofMib(positive(body, "memory", mib))),
                        body.integer("storage")
                                .map(mib -> Size.ofMib(positive(body, "storage", mib))));
        return Reply.ok(json.write(vms.resize(account(call), call.path("vm"), growth)));
    }

    private static long positive(JsonObject body, String field, long value) {
        if (value < 1 || value > Integer.MAX_VALUE) {
            throw body.fault(field, "must be a positive number within the ceilings");
        }
        return value;
    }

    static AccountId account(Call call) {
        return new AccountId(call.caller().account());
    }
}
