package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.identity.AccountId;
import coppice.json.JsonWriter;
import coppice.network.Networks;
import coppice.network.Tunnel;
import coppice.network.Tunnels;
import java.util.List;

/// The operations on WireGuard tunnels.
public final class TunnelRoutes {
    private static final String TAG = "Tunnels";
    private static final String TUNNEL = "/tunnels/{tunnel}";
    private static final String PLACE = TUNNEL + "/vpcs/{vpc}";

    private final Networks networks;
    private final Tunnels tunnels;

    public TunnelRoutes(Networks networks, Tunnels tunnels) {
        this.networks = networks;
        this.tunnels = tunnels;
    }

    public List<Route> routes() {
        return List.of(
                Route.v5(GET, "/tunnels", "listTunnels", this::list)
                        .about(TAG, "List the account's tunnels, newest first")
                        .paged()
                        .returns(TunnelSchemas.TUNNEL_LIST),
                Route.v5(GET, "/vpcs/{vpc}/tunnels", "listVpcTunnels", this::listOfVpc)
                        .about(TAG, "List the tunnels that are attached to a network, newest first")
                        .paged()
                        .returns(TunnelSchemas.TUNNEL_LIST),
                createRoute(),
                Route.v5(GET, TUNNEL, "getTunnel", this::get)
                        .about(TAG, "Get a tunnel")
                        .returns(TunnelSchemas.TUNNEL),
                Route.v5(PATCH, TUNNEL, "updateTunnel", this::update)
                        .about(TAG, "Change a tunnel's slug or display name")
                        .takes(TunnelSchemas.UPDATE)
                        .returns(TunnelSchemas.TUNNEL)
                        .fails(Code.CONFLICT, "slug taken"),
                Route.v5(POST, TUNNEL + "/rotate-key", "rotateTunnelKey", this::rotateKey)
                        .about(TAG, "Give a tunnel's client another key; the old one stops at once")
                        .takes(TunnelSchemas.ROTATE)
                        .returns(TunnelSchemas.ISSUED)
                        .fails(Code.CONFLICT, "another tunnel has the public key"),
                Route.v5(DELETE, TUNNEL, "deleteTunnel", this::delete)
                        .about(TAG, "Delete a tunnel, with the firewall rules that name it"),
                attachRoute(),
                Route.v5(DELETE, PLACE, "detachTunnel", this::detach)
                        .about(TAG, "Detach a tunnel from a network")
                        .returns(TunnelSchemas.TUNNEL)
                        .fails(Code.NOT_FOUND, "no such tunnel or network, or not attached"));
    }

    private Route createRoute() {
        return Route.v5(POST, "/tunnels", "createTunnel", this::create)
                .creates()
                .about(TAG, "Create a tunnel, attached to networks or to none")
                .takes(TunnelSchemas.CREATE, Examples.CREATE_TUNNEL)
                .returns(TunnelSchemas.ISSUED)
                .fails(
                        Code.BAD_REQUEST,
                        "invalid slug, display name, public key, routes or address; network outside the routes; same network twice")
                .fails(Code.NOT_FOUND, "a named network is absent")
                .fails(
                        Code.CONFLICT,
                        "slug or public key taken, address held, range not free, networks that overlap, or too many tunnels");
    }

    private Route attachRoute() {
        return Route.v5(POST, PLACE, "attachTunnel", this::attach)
                .about(TAG, "Attach a tunnel to a network")
                .takes(TunnelSchemas.ATTACH, Examples.ATTACH_TUNNEL)
                .returns(TunnelSchemas.TUNNEL)
                .fails(
                        Code.BAD_REQUEST,
                        "both address fields, address outside the network, network outside the routes, bad or straddling range")
                .fails(Code.NOT_FOUND, "no such tunnel or network")
                .fails(
                        Code.CONFLICT,
                        "address held, range not free or overlapping, network overlaps an attached one, or already attached");
    }

    private Reply list(Call call) {
        return page(call, tunnels.list(VmRoutes.account(call)));
    }

    private Reply listOfVpc(Call call) {
        return page(call, tunnels.list(VmRoutes.account(call), call.path("vpc")));
    }

    private Reply page(Call call, List<Tunnel> all) {
        return Reply.ok(
                new JsonWriter()
                        .put("tunnels", call.page().of(all).stream().map(this::json).toList())
                        .put("totalCount", all.size()));
    }

    private Reply create(Call call) {
        return issued(tunnels.create(VmRoutes.account(call), TunnelFields.tunnel(call.body())));
    }

    private Reply get(Call call) {
        return Reply.ok(json(tunnels.get(VmRoutes.account(call), call.path("tunnel"))));
    }

    private Reply update(Call call) {
        var account = VmRoutes.account(call);
        return Reply.ok(
                json(
                        tunnels.update(
                                account,
                                call.path("tunnel"),
                                before -> TunnelFields.named(call.body(), before))));
    }

    private Reply rotateKey(Call call) {
        var account = VmRoutes.account(call);
        var tunnel = id(account, call);
        return issued(tunnels.rotateKey(account, tunnel, TunnelFields.clientKey(call.body())));
    }

    private Reply delete(Call call) {
        tunnels.delete(VmRoutes.account(call), call.path("tunnel"));
        return Reply.noContent();
    }

    private Reply attach(Call call) {
        var account = VmRoutes.account(call);
        var tunnel = id(account, call);
        var vpc = networks.requireVpc(account, call.path("vpc")).id().text();
        return Reply.ok(
                json(tunnels.attach(account, tunnel, TunnelFields.attachment(call.body(), vpc))));
    }

    private Reply detach(Call call) {
        return Reply.ok(
                json(
                        tunnels.detach(
                                VmRoutes.account(call), call.path("tunnel"), call.path("vpc"))));
    }

    /// Looks for what the path names before the body is looked at.
    private String id(AccountId account, Call call) {
        return tunnels.get(account, call.path("tunnel")).id().text();
    }

    private JsonWriter json(Tunnel tunnel) {
        return TunnelJson.write(tunnel, tunnels.endpoint(tunnel));
    }

    private Reply issued(Tunnels.Issued issued) {
        return Reply.ok(TunnelJson.write(issued, tunnels.endpoint(issued.tunnel())));
    }
}
