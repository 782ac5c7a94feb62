package coppice.vm;

import coppice.identity.AccountId;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The VMs that were deleted within a day. Thread-safe.
public final class DeletedVms {
    private static final Duration KEPT = Duration.ofHours(24);

    private final Store store;
    private final InstantSource clock;

    DeletedVms(Store store, InstantSource clock) {
        this.store = store;
        this.clock = clock;
    }

    /// A VM of before that is made anew keeps its row until it goes again: it may fail to come to life.
    private static final String KEPT_ROWS =
            "deleted_vms where account_id = :account and deleted_at > :since and id not in (select id from vms)";

    /// Notes that a VM goes, in the unit of work that removes its row, and forgets those whose day is over. One that never came to life
    /// is not noted: nobody was told of it.
    static void note(Handle handle, VmId vm, Instant now) {
        handle.createUpdate("delete from deleted_vms where deleted_at <= :before")
                .bind("before", now.minus(KEPT).toEpochMilli())
                .execute();
        handle.createUpdate(
                        """
                        delete from deleted_vms where id = :id
                        and exists (select 1 from vms where id = :id and state <> 'creating')
                        """)
                .bind("id", vm.text())
                .execute();
        handle.createUpdate(
                        """
                        insert into deleted_vms
                        (id, account_id, snapshot_id, persistence, is_declared, recipe, created_at, deleted_at)
                        select id, account_id, snapshot_id, persistence, is_declared, recipe, created_at, :now
                        from vms where id = :id and state <> 'creating'
                        """)
                .bind("now", now.toEpochMilli())
                .bind("id", vm.text())
                .execute();
    }

    /// Those of an account, newest first.
    public List<DeletedVm> of(AccountId account) {
        return query("", Map.of("account", account.toString()));
    }

    public Optional<DeletedVm> find(AccountId account, VmId vm) {
        return query("and id = :id", Map.of("account", account.toString(), "id", vm.text()))
                .stream()
                .findFirst();
    }

    /// Has a VM be as if it had never been.
    public void forget(VmId vm) {
        store.change(
                handle ->
                        handle.createUpdate("delete from deleted_vms where id = :id")
                                .bind("id", vm.text())
                                .execute());
    }

    private List<DeletedVm> query(String where, Map<String, ?> values) {
        return store.read(
                handle ->
                        handle.createQuery(
                                        "select * from %s %s order by created_at desc, id desc"
                                                .formatted(KEPT_ROWS, where))
                                .bindMap(values)
                                .bind("since", clock.instant().minus(KEPT).toEpochMilli())
                                .map((row, _) -> read(row))
                                .list());
    }

    private static DeletedVm read(ResultSet row) throws SQLException {
        return new DeletedVm(
                new VmId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                new SnapshotId(row.getString("snapshot_id")),
                PersistenceJson.read(row.getString("persistence")),
                row.getInt("is_declared") == 1,
                Optional.ofNullable(row.getString("recipe")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("deleted_at")));
    }
}
