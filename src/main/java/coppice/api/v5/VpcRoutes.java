package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.json.JsonWriter;
import coppice.network.Networks;
import coppice.network.Vpc;
import coppice.vm.Vms;
import java.util.Comparator;
import java.util.List;

/// The operations on private networks.
public final class VpcRoutes {
    private static final String VPC = "/vpcs/{vpc}";
    private static final Comparator<Vpc> BY_AGE =
            Comparator.comparing(Vpc::createdAt).thenComparing(vpc -> vpc.id().text());

    private final Networks networks;
    private final Vms vms;

    public VpcRoutes(Networks networks, Vms vms) {
        this.networks = networks;
        this.vms = vms;
    }

    public List<Route> routes() {
        return List.of(
                Route.v5(POST, "/vpcs", "createVpc", this::create)
                        .creates()
                        .about("Networks", "Create a private network, with rules or without")
                        .takes(VpcSchemas.CREATE, Examples.CREATE_VPC)
                        .returns(VpcSchemas.CREATED_VPC)
                        .fails(Code.NOT_FOUND, "a rule names what is absent")
                        .fails(Code.CONFLICT, "slug taken, or the limit of networks or rules"),
                Route.v5(GET, "/vpcs", "listVpcs", this::list)
                        .about("Networks", "List private networks, newest first")
                        .paged()
                        .returns(VpcSchemas.VPC_LIST),
                Route.v5(GET, VPC, "getVpc", this::get)
                        .about("Networks", "Get a private network")
                        .returns(VpcSchemas.VPC),
                Route.v5(PATCH, VPC, "updateVpc", this::update)
                        .about("Networks", "Change a private network's slug or name")
                        .takes(VpcSchemas.UPDATE)
                        .returns(VpcSchemas.VPC)
                        .fails(Code.CONFLICT, "slug taken"),
                Route.v5(DELETE, VPC, "deleteVpc", this::delete)
                        .about("Networks", "Delete a private network and the rules that name it")
                        .fails(Code.CONFLICT, "a machine is in it"));
    }

    private Reply create(Call call) {
        var account = VmRoutes.account(call);
        var wanted = VpcFields.wanted(call.body());
        var rules = RuleFields.ofVpc(call.body(), Names.of(account, vms, networks));
        var created = networks.createVpc(account, wanted.with(rules));
        var json = RuleJson.of(account, vms, networks);
        return Reply.ok(
                VpcJson.write(created.vpc()).put("firewallRules", json.writeAll(created.rules())));
    }

    private Reply list(Call call) {
        var all =
                networks.of(VmRoutes.account(call)).vpcs().values().stream()
                        .sorted(BY_AGE.reversed())
                        .toList();
        return Reply.ok(
                new JsonWriter()
                        .put("vpcs", call.page().of(all).stream().map(VpcJson::write).toList())
                        .put("totalCount", all.size()));
    }

    private Reply get(Call call) {
        return Reply.ok(
                VpcJson.write(networks.requireVpc(VmRoutes.account(call), call.path("vpc"))));
    }

    private Reply update(Call call) {
        return Reply.ok(
                VpcJson.write(
                        networks.updateVpc(
                                VmRoutes.account(call),
                                call.path("vpc"),
                                before -> VpcFields.updated(call.body(), before))));
    }

    private Reply delete(Call call) {
        networks.deleteVpc(VmRoutes.account(call), call.path("vpc"));
        return Reply.noContent();
    }
}
