package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.identity.Identities;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrants;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.VmId;
import coppice.vm.Vms;
import java.util.List;
import java.util.stream.Stream;

/// The operations on identities, their access tokens, and the VMs that they may use.
public final class IdentityRoutes {
    private static final String IDENTITY = "/identities/{identity_id}";
    private static final String TOKENS = IDENTITY + "/tokens";
    private static final String GRANTS = IDENTITY + "/permissions/vm";
    private static final String GRANT = GRANTS + "/{vm_id}";
    private static final String USERS = "allowedLinuxUsers";

    private final Identities identities;
    private final IdentityTokens tokens;
    private final VmGrants grants;
    private final Vms vms;

    public IdentityRoutes(Identities identities, IdentityTokens tokens, VmGrants grants, Vms vms) {
        this.identities = identities;
        this.tokens = tokens;
        this.grants = grants;
        this.vms = vms;
    }

    public List<Route> routes() {
        return Stream.of(identityRoutes(), tokenRoutes(), grantRoutes())
                .flatMap(List::stream)
                .map(route -> route.strangers(Code.MISSING_ACCOUNT_CONTEXT))
                .toList();
    }

    private List<Route> identityRoutes() {
        return List.of(
                Route.v5(GET, "/identities", "listIdentities", this::list)
                        .about("Identities", "List identities, newest first")
                        .query("includeManaged", Schema.bool(), "Managed ones, too; default false.")
                        .paged()
                        .returns(IdentitySchemas.LIST),
                Route.v5(POST, "/identities", "createIdentity", this::create)
                        .creates()
                        .about("Identities", "Create an identity: an end user of the account")
                        .takes(IdentitySchemas.CREATE, Examples.CREATE_IDENTITY)
                        .returns(IdentitySchemas.ITEM)
                        .fails(Code.CONFLICT, "the account's limit of identities"),
                Route.v5(GET, IDENTITY, "getIdentity", this::get)
                        .about("Identities", "Get an identity")
                        .returns(IdentitySchemas.IDENTITY)
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account"),
                Route.v5(DELETE, IDENTITY, "deleteIdentity", this::delete)
                        .about("Identities", "Delete an identity with its tokens and permissions")
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.MANAGED_IDENTITY_DELETE, "it is managed"));
    }

    private List<Route> tokenRoutes() {
        return List.of(
                Route.v5(GET, TOKENS, "listIdentityTokens", this::listTokens)
                        .about("Identities", "List the access tokens of an identity, newest first")
                        .paged()
                        .returns(Schema.list(IdentitySchemas.TOKEN))
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account"),
                Route.v5(POST, TOKENS, "createIdentityToken", this::createToken)
                        .creates()
                        .about("Identities", "Make an access token, which is shown only now")
                        .returns(IdentitySchemas.NEW_TOKEN)
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.CONFLICT, "the identity has 100 tokens"),
                Route.v5(DELETE, TOKENS + "/{token_id}", "revokeIdentityToken", this::revokeToken)
                        .about("Identities", "Revoke an access token, at once")
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account"));
    }

    private List<Route> grantRoutes() {
        return List.of(
                Route.v5(GET, GRANTS, "listVmPermissions", this::listGrants)
                        .about("Identities", "List the VMs that an identity may use, newest first")
                        .paged()
                        .returns(Schema.list(IdentitySchemas.PERMISSION))
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account"),
                Route.v5(POST, GRANTS, "grantVmPermission", this::grant)
                        .creates()
                        .about("Identities", "Let an identity use a VM; replaces what it was let")
                        .takes(IdentitySchemas.GRANT, Examples.GRANT)
                        .returns(IdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.NOT_FOUND, "no VM has that id")
                        .fails(Code.CONFLICT, "the identity has 10000 permissions"),
                Route.v5(GET, GRANT, "getVmPermission", this::getGrant)
                        .about("Identities", "Get what an identity may do in a VM")
                        .returns(IdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_PERMISSION_NOT_FOUND, "it was granted nothing there"),
                Route.v5(PATCH, GRANT, "updateVmPermission", this::updateGrant)
                        .about("Identities", "Change as which users an identity may use a VM")
                        .takes(IdentitySchemas.UPDATE)
                        .returns(IdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_PERMISSION_NOT_FOUND, "it was granted nothing there"),
                Route.v5(DELETE, GRANT, "revokeVmPermission", this::revokeGrant)
                        .about("Identities", "Have an identity no longer use a VM, at once")
                        .fails(Code.IDENTITY_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_PERMISSION_NOT_FOUND, "it was granted nothing there"));
    }

    private Reply list(Call call) {
        boolean withManaged = call.query().bool("includeManaged").orElse(false);
        var page = call.page();
        var listed = identities.list(account(call), withManaged, page.limit(), page.offset());
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "identities",
                                listed.identities().stream().map(IdentityJson::item).toList())
                        .put("total", listed.total()));
    }

    private Reply create(Call call) {
        boolean isManaged = call.body().bool("managed").orElse(false);
        return Reply.ok(IdentityJson.item(identities.create(account(call), isManaged)));
    }

    private Reply get(Call call) {
        return Reply.ok(IdentityJson.write(identities.require(account(call), identity(call))));
    }

    private Reply delete(Call call) {
        identities.delete(account(call), identity(call));
        return Reply.noContent();
    }

    private Reply listTokens(Call call) {
        var all = tokens.list(account(call), identity(call));
        return Reply.ok(call.page().of(all).stream().map(IdentityJson::token).toList());
    }

    private Reply createToken(Call call) {
        var token = tokens.create(account(call), identity(call));
        return Reply.ok(IdentityJson.token(token.id()).put("token", token.token().reveal()));
    }

    private Reply revokeToken(Call call) {
        tokens.revoke(account(call), identity(call), call.path("token_id"));
        return Reply.noContent();
    }

    private Reply listGrants(Call call) {
        var account = account(call);
        var all = grants.list(account, identity(call));
        return Reply.ok(
                call.page().of(all).stream()
                        .map(grant -> IdentityJson.write(grant, account.uuid()))
                        .toList());
    }

    private Reply grant(Call call) {
        var account = account(call);
        identities.require(account, identity(call));
        var id = call.body().requiredString("vmId");
        var users = BodyFields.linuxUsers(call.body(), USERS);
        if (!VmId.isId(id)) {
            throw new Failure(
                    Code.NOT_FOUND, "vmId: no VM has the id %s; send an id, no slug".formatted(id));
        }
        var vm = vms.get(account, id);
        return Reply.ok(
                IdentityJson.write(
                        grants.grant(account, identity(call), vm.id().text(), users),
                        account.uuid()));
    }

    private Reply getGrant(Call call) {
        var account = account(call);
        var grant = grants.require(account, identity(call), call.path("vm_id"));
        return Reply.ok(IdentityJson.write(grant, account.uuid()));
    }

    private Reply updateGrant(Call call) {
        var account = account(call);
        var vm = call.path("vm_id");
        grants.require(account, identity(call), vm);
        var users = BodyFields.sentLinuxUsers(call.body(), USERS);
        return Reply.ok(
                IdentityJson.write(
                        grants.update(account, identity(call), vm, users), account.uuid()));
    }

    private Reply revokeGrant(Call call) {
        grants.revoke(account(call), identity(call), call.path("vm_id"));
        return Reply.noContent();
    }

    private static AccountId account(Call call) {
        return VmRoutes.account(call);
    }

    private static String identity(Call call) {
        return call.path("identity_id");
    }
}
