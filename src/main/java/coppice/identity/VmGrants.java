package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.store.Lookup;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/// Which identities may use which VMs. An identity that the account does not have is `IDENTITY_NOT_FOUND` in every method. A grant goes
/// with its VM and with its identity.
public final class VmGrants {
    private static final int MAX = 10_000;

    private static final String INSERT =
            """
            insert into vm_grants (id, identity_id, vm_id, linux_users, granted_at)
            values (:id, :identity, :vm, :users, :grantedAt)
            """;

    private static final String SELECT =
            "select id, identity_id, vm_id, linux_users, granted_at from vm_grants where identity_id = :identity ";

    private static final Lookup<VmGrant> HELD =
            new Lookup<>(
                    """
                    select id, identity_id, vm_id, linux_users, granted_at from vm_grants
                    where identity_id = ? and vm_id = ?
                    """,
                    VmGrants::grant);

    private final Store store;
    private final Clock clock;

    public VmGrants(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /// Grants; another grant on the same VM keeps its id and gets these users. `CONFLICT` at the limit of 10,000 grants.
    ///
    /// @param vm a VM that the account has; `NOT_FOUND` if it is deleted just then
    public VmGrant grant(AccountId account, String identity, String vm, LinuxUsers users) {
        return write(
                account,
                identity,
                vm,
                handle -> {
                    var before = find(handle, identity, vm);
                    return before.map(grant -> changed(handle, grant, users))
                            .orElseGet(() -> added(handle, identity, vm, users));
                });
    }

    /// As [#grant], for a VM on which there is none: `PERMISSION_ALREADY_EXISTS` otherwise.
    public VmGrant add(AccountId account, String identity, String vm, LinuxUsers users) {
        return write(
                account,
                identity,
                vm,
                handle -> {
                    if (find(handle, identity, vm).isPresent()) {
                        throw new Failure(
                                Code.PERMISSION_ALREADY_EXISTS,
                                "the identity has a permission on %s; change that one"
                                        .formatted(vm));
                    }
                    return added(handle, identity, vm, users);
                });
    }

    /// All, newest first.
    public List<VmGrant> list(AccountId account, String identity) {
        return store.read(
                handle -> {
                    Identities.require(handle, account, identity);
                    return handle.createQuery(SELECT + "order by granted_at desc, id desc")
                            .bind("identity", identity)
                            .map((row, _) -> grant(row))
                            .list();
                });
    }

    /// What an identity, of whatever account, was granted on a VM.
    public Optional<VmGrant> find(IdentityId identity, String vm) {
        return store.look(HELD, identity.toString(), vm);
    }

    /// `VM_PERMISSION_NOT_FOUND` if there is none.
    public VmGrant require(AccountId account, String identity, String vm) {
        return store.read(handle -> require(handle, account, identity, vm));
    }

    /// `VM_PERMISSION_NOT_FOUND` if there is none.
    public VmGrant update(AccountId account, String identity, String vm, LinuxUsers users) {
        return store.write(
                handle -> changed(handle, require(handle, account, identity, vm), users));
    }

    /// `VM_PERMISSION_NOT_FOUND` if there is none.
    public void revoke(AccountId account, String identity, String vm) {
        store.change(
                handle -> {
                    var grant = require(handle, account, identity, vm);
                    handle.createUpdate("delete from vm_grants where id = :id")
                            .bind("id", grant.id().toString())
                            .execute();
                });
    }

    private interface Unit {
        VmGrant run(Handle handle);
    }

    private VmGrant write(AccountId account, String identity, String vm, Unit unit) {
        try {
            return store.write(
                    handle -> {
                        Identities.require(handle, account, identity);
                        return unit.run(handle);
                    });
        } catch (RuntimeException e) {
            if (Store.isMissingReference(e)) {
                throw new Failure(Code.NOT_FOUND, "there is no VM %s".formatted(vm), e);
            }
            throw e;
        }
    }

    private VmGrant added(Handle handle, String identity, String vm, LinuxUsers users) {
        refuseOverLimit(handle, identity);
        var grant =
                new VmGrant(
                        UUID.randomUUID(),
                        IdentityId.stored(identity),
                        vm,
                        users,
                        Instant.ofEpochMilli(clock.millis()));
        handle.createUpdate(INSERT)
                .bind("id", grant.id().toString())
                .bind("identity", identity)
                .bind("vm", vm)
                .bind("users", users.text())
                .bind("grantedAt", grant.grantedAt().toEpochMilli())
                .execute();
        return grant;
    }

    private static void refuseOverLimit(Handle handle, String identity) {
        var there =
                handle.createQuery("select count(*) from vm_grants where identity_id = :identity")
                        .bind("identity", identity)
                        .mapTo(Long.class)
                        .one();
        if (there >= MAX) {
            throw new Failure(
                    Code.CONFLICT,
                    "the identity has %d permissions, its limit; revoke one first".formatted(MAX));
        }
    }

    private static VmGrant changed(Handle handle, VmGrant before, LinuxUsers users) {
        handle.createUpdate("update vm_grants set linux_users = :users where id = :id")
                .bind("users", users.text())
                .bind("id", before.id().toString())
                .execute();
        return new VmGrant(before.id(), before.identity(), before.vm(), users, before.grantedAt());
    }

    private static VmGrant require(Handle handle, AccountId account, String identity, String vm) {
        Identities.require(handle, account, identity);
        return find(handle, identity, vm)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.VM_PERMISSION_NOT_FOUND,
                                        "the identity has no permission on VM %s".formatted(vm)));
    }

    private static Optional<VmGrant> find(Handle handle, String identity, String vm) {
        return handle.createQuery(SELECT + "and vm_id = :vm")
                .bind("identity", identity)
                .bind("vm", vm)
                .map((row, _) -> grant(row))
                .findOne();
    }

    private static VmGrant grant(ResultSet row) throws SQLException {
        return new VmGrant(
                UUID.fromString(row.getString("id")),
                IdentityId.stored(row.getString("identity_id")),
                row.getString("vm_id"),
                LinuxUsers.stored(Optional.ofNullable(row.getString("linux_users"))),
                Instant.ofEpochMilli(row.getLong("granted_at")));
    }
}
