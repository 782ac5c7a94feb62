package coppice.api.legacy;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;
import static coppice.api.Method.PUT;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.Identities;
import coppice.identity.VmGrant;
import coppice.identity.VmGrants;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.VmId;
import coppice.vm.Vms;
import java.util.List;

/// The legacy operations on what identities may do in VMs.
final class LegacyVmGrants {
    private static final String GRANTS = LegacyIdentityRoutes.IDENTITY + "/permissions/vm";
    private static final String GRANT = GRANTS + "/{vm_id}";
    private static final String USERS = "allowedUsers";
    private static final String ABSENT = LegacyIdentityRoutes.ABSENT;
    private static final String NOTHING = "it was granted nothing there";
    private static final String MANAGED = "it is managed";

    private final Identities identities;
    private final VmGrants grants;
    private final Vms vms;

    LegacyVmGrants(Identities identities, VmGrants grants, Vms vms) {
        this.identities = identities;
        this.grants = grants;
        this.vms = vms;
    }

    List<Route> routes() {
        return List.of(
                Route.legacy(GET, GRANTS, "legacyListVmPermissions", this::list)
                        .about("Legacy", "List the VMs that an identity may use, newest first")
                        .paged()
                        .returns(LegacyIdentitySchemas.PERMISSIONS)
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT),
                Route.legacy(POST, GRANT, "legacyGrantVmPermission", this::grant)
                        .creates()
                        .about("Legacy", "Let an identity use a VM")
                        .takes(LegacyIdentitySchemas.GRANT, Examples.GRANT)
                        .returns(LegacyIdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                        .fails(Code.CANNOT_MODIFY_MANAGED_IDENTITY, MANAGED)
                        .fails(Code.PERMISSION_ALREADY_EXISTS, "change the one that there is")
                        .fails(Code.CONFLICT, "the identity has 10000 permissions"),
                Route.legacy(GET, GRANT, "legacyGetVmPermission", this::get)
                        .about("Legacy", "Get what an identity may do in a VM")
                        .returns(LegacyIdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                        .fails(Code.VM_PERMISSION_NOT_FOUND, NOTHING),
                Route.legacy(PUT, GRANT, "legacyUpdateVmPermission", this::update)
                        .about("Legacy", "Change as which users an identity may use a VM")
                        .takes(LegacyIdentitySchemas.UPDATE)
                        .returns(LegacyIdentitySchemas.PERMISSION)
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                        .fails(Code.CANNOT_MODIFY_MANAGED_IDENTITY, MANAGED)
                        .fails(Code.VM_PERMISSION_NOT_FOUND, NOTHING),
                Route.legacy(DELETE, GRANT, "legacyRevokeVmPermission", this::revoke)
                        .about("Legacy", "Have an identity no longer use a VM, at once")
                        .returns(Schema.object())
                        .fails(Code.IDENTITY_NOT_FOUND, ABSENT)
                        .fails(Code.CANNOT_MODIFY_MANAGED_IDENTITY, MANAGED)
                        .fails(Code.VM_PERMISSION_NOT_FOUND, NOTHING));
    }

    private Reply list(Call call) {
        var all = grants.list(LegacyVmRoutes.account(call), call.path("identity"));
        var page = call.page();
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "permissions",
                                page.of(all).stream().map(grant -> write(grant, call)).toList())
                        .put("offset", page.offset())
                        .put("total", all.size()));
    }

    private Reply grant(Call call) {
        var identity = LegacyIdentityRoutes.unmanaged(identities, call);
        var name = vm(call);
        if (!VmId.isId(name)) {
            throw new Failure(
                    Code.NOT_FOUND, "no VM has the id %s; send an id, no slug".formatted(name));
        }
        var vm = vms.get(identity.account(), name);
        var users = BodyFields.linuxUsers(call.body(), USERS);
        var id = identity.id().toString();
        return Reply.ok(write(grants.add(identity.account(), id, vm.id().text(), users), call));
    }

    private Reply get(Call call) {
        var account = LegacyVmRoutes.account(call);
        return Reply.ok(write(grants.require(account, call.path("identity"), vm(call)), call));
    }

    private Reply update(Call call) {
        var identity = LegacyIdentityRoutes.unmanaged(identities, call);
        var id = identity.id().toString();
        grants.require(identity.account(), id, vm(call));
        var users = BodyFields.sentLinuxUsers(call.body(), USERS);
        return Reply.ok(write(grants.update(identity.account(), id, vm(call), users), call));
    }

    private Reply revoke(Call call) {
        var identity = LegacyIdentityRoutes.unmanaged(identities, call);
        grants.revoke(identity.account(), identity.id().toString(), vm(call));
        return Reply.ok(new JsonWriter());
    }

    /// The id that the path names, if it is one: by its 20 characters, too.
    private static String vm(Call call) {
        var name = call.path("vm_id");
        return LegacyVms.isBareId(name) ? "vm-" + name : name;
    }

    private static JsonWriter write(VmGrant grant, Call call) {
        return new JsonWriter()
                .put("id", grant.id())
                .put("identityId", grant.identity().uuid())
                .put("vmId", grant.vm())
                .putOrNull("allowedUsers", grant.users().names())
                .put("grantedAt", grant.grantedAt())
                .put("grantedBy", call.caller().account());
    }
}
