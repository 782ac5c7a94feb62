package coppice.api.legacy;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.Identities;
import coppice.identity.Identity;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrants;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Vms;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The legacy operations on identities and their access tokens, and the one that tells who is calling.
public final class LegacyIdentityRoutes {
    private static final String IDENTITIES = "/identity/v1/identities";
    static final String IDENTITY = IDENTITIES + "/{identity}";

    /// Of the first clients.
    private static final String OLDEST = "/git/v1/identity";

    private static final UnaryOperator<Route> CREATE_BODY =
            route -> route.takes(LegacyIdentitySchemas.CREATE, Examples.CREATE_IDENTITY);

    static final String ABSENT = "absent, or of another account";

    private final Identities identities;
    private final IdentityTokens tokens;
    private final LegacyVmGrants grants;

    public LegacyIdentityRoutes(
            Identities identities, IdentityTokens tokens, VmGrants grants, Vms vms) {
        this.identities = identities;
        this.tokens = tokens;
        this.grants = new LegacyVmGrants(identities, grants, vms);
    }

    public List<Route> routes() {
        return Stream.of(
                        List.of(whoRoute(), createRoute(IDENTITIES, "legacy", CREATE_BODY)),
                        routes(IDENTITIES, "legacy"),
                        List.of(createRoute(OLDEST, "oldest", route -> route), revokeByBody()),
                        routes(OLDEST, "oldest"),
                        grants.routes())
                .flatMap(List::stream)
                .toList();
    }

    private static Route whoRoute() {
        return Route.legacy(GET, "/auth/v1/whoami", "legacyWhoAmI", LegacyIdentityRoutes::who)
                .about("Legacy", "Tell who is calling")
                .returns(LegacyIdentitySchemas.WHO)
                .forIdentities();
    }

    private Route createRoute(String path, String name, UnaryOperator<Route> body) {
        var route = Route.legacy(POST, path, name + "CreateIdentity", this::create).creates();
        return body.apply(route.about("Legacy", "Create an identity: an end user of the account"))
                .returns(LegacyIdentitySchemas.IDENTITY)
                .fails(Code.CONFLICT, "the account's limit of identities");
    }

    /// What there is by each path.
    ///
    /// @param name how the names of the operations begin
    private List<Route> routes(String path, String name) {
        var identity = path + "/{identity}";
        var tokens = identity + "/tokens";
        return List.of(
                Route.legacy(GET, path, name + "ListIdentities", this::list)
                        .about("Legacy", "List identities, newest first")
                        .query("includeManaged", Schema.bool(), "Managed ones, too; default false.")
                        .paged()
                        .returns(LegacyIdentitySchemas.LIST),
                Route.legacy(DELETE, identity, name + "DeleteIdentity", this::delete)
                        .about("Legacy", "Delete an identity with its tokens and permissions")
                        .returns(Schema.object())
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                        .fails(Code.CANNOT_DELETE_MANAGED_IDENTITY, "it is managed"),
                Route.legacy(GET, tokens, name + "ListIdentityTokens", this::listTokens)
                        .about("Legacy", "List the access tokens of an identity, newest first")
                        .returns(LegacyIdentitySchemas.TOKENS)
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT),
                changing(
                                Route.legacy(
                                        POST,
                                        tokens,
                                        name + "CreateIdentityToken",
                                        this::createToken))
                        .creates()
                        .about("Legacy", "Make an access token, which is shown only now")
                        .returns(LegacyIdentitySchemas.NEW_TOKEN)
                        .fails(Code.CONFLICT, "the identity has 100 tokens"),
                changing(
                                Route.legacy(
                                        DELETE,
                                        tokens + "/{token}",
                                        name + "RevokeToken",
                                        call -> revokeToken(call, it -> it.path("token"))))
                        .about("Legacy", "Revoke an access token, at once")
                        .returns(Schema.object()));
    }

    private static Route changing(Route route) {
        return route.fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                .fails(Code.CANNOT_MODIFY_MANAGED_IDENTITY, "it is managed");
    }

    private Route revokeByBody() {
        return changing(
                        Route.legacy(
                                DELETE,
                                OLDEST + "/{identity}/tokens",
                                "oldestRevokeTokenByBody",
                                call ->
                                        revokeToken(
                                                call, it -> it.body().requiredString("tokenId"))))
                .about("Legacy", "Revoke an access token that the body names, at once")
                .takes(LegacyIdentitySchemas.REVOKE)
                .returns(Schema.object());
    }

    private static Reply who(Call call) {
        var caller = call.caller();
        return Reply.ok(
                new JsonWriter()
                        .put("accountId", caller.account())
                        .putOrNull("identityId", caller.identity()));
    }

    private Reply list(Call call) {
        boolean withManaged = call.query().bool("includeManaged").orElse(false);
        var page = call.page();
        var account = LegacyVmRoutes.account(call);
        var listed = identities.list(account, withManaged, page.limit(), page.offset());
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "identities",
                                listed.identities().stream()
                                        .map(LegacyIdentityRoutes::write)
                                        .toList())
                        .put("offset", page.offset())
                        .put("total", listed.total()));
    }

    private Reply create(Call call) {
        boolean isManaged = call.body().bool("managed").orElse(false);
        return Reply.ok(write(identities.create(LegacyVmRoutes.account(call), isManaged)));
    }

    private Reply delete(Call call) {
        try {
            identities.delete(LegacyVmRoutes.account(call), call.path("identity"));
            return Reply.ok(new JsonWriter());
        } catch (Failure e) {
            throw e.code() == Code.MANAGED_IDENTITY_DELETE
                    ? e.as(Code.CANNOT_DELETE_MANAGED_IDENTITY, Map.of())
                    : e;
        }
    }

    private Reply listTokens(Call call) {
        var all = tokens.list(LegacyVmRoutes.account(call), call.path("identity"));
        return Reply.ok(
                new JsonWriter()
                        .put("tokens", all.stream().map(LegacyIdentityRoutes::token).toList()));
    }

    private Reply createToken(Call call) {
        var identity = unmanaged(identities, call);
        var token = tokens.create(identity.account(), identity.id().toString());
        return Reply.ok(token(token.id()).put("token", token.token().reveal()));
    }

    /// @param token its id, of which nobody hears what is wrong with it whose identity it is not
    private Reply revokeToken(Call call, Function<Call, String> token) {
        var identity = unmanaged(identities, call);
        tokens.revoke(identity.account(), identity.id().toString(), token.apply(call));
        return Reply.ok(new JsonWriter());
    }

    /// The identity that the path names, which the caller wants to change.
    static Identity unmanaged(Identities identities, Call call) {
        var identity = identities.require(LegacyVmRoutes.account(call), call.path("identity"));
        if (identity.isManaged()) {
            throw new Failure(
                    Code.CANNOT_MODIFY_MANAGED_IDENTITY,
                    "identity %s is managed by the platform and cannot be changed"
                            .formatted(identity.id()));
        }
        return identity;
    }

    private static JsonWriter write(Identity identity) {
        return new JsonWriter()
                .put("id", identity.id().uuid())
                .put("managed", identity.isManaged());
    }

    private static JsonWriter token(UUID id) {
        return new JsonWriter().put("id", id);
    }
}
