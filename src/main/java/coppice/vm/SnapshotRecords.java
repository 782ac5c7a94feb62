package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.store.Lookup;
import coppice.store.Remembered;
import coppice.store.Store;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// The rows of snapshots in the store. A deleted one keeps its row for a while, without its slug; only what says so here sees it.
final class SnapshotRecords {
    private static final String USABLE = "deleted_at is null and failed_at is null";

    private static final Lookup<Snapshots.Label> LABEL =
            new Lookup<>(
                    """
                    select s.account_id, a.slug as owner, s.slug, s.display_name
                    from snapshots s join accounts a on a.id = s.account_id
                    where s.id = ? and s.deleted_at is null and s.failed_at is null
                    """,
                    row ->
                            new Snapshots.Label(
                                    AccountId.stored(row.getString(1)),
                                    row.getString(2),
                                    Optional.ofNullable(row.getString(3)),
                                    Optional.ofNullable(row.getString(4))));

    private final Store store;
    private final Remembered<Snapshots.Label> labels;

    SnapshotRecords(Store store) {
        this.store = store;
        this.labels = new Remembered<>(store, LABEL);
    }

    Optional<Snapshot> find(SnapshotId id) {
        return store.read(handle -> find(handle, id));
    }

    Optional<Snapshot> find(AccountId account, Slug slug) {
        return store.read(
                handle ->
                        query(
                                        handle,
                                        "account_id = :account and slug = :slug and " + USABLE,
                                        Map.of("account", account.toString(), "slug", slug.text()))
                                .stream()
                                .findFirst());
    }

    /// All of an account, those that are not usable too, newest first.
    List<Snapshot> of(AccountId account) {
        return store.read(
                handle ->
                        query(
                                handle,
                                "account_id = :account order by created_at desc, id desc",
                                Map.of("account", account.toString())));
    }

    /// Those that have a timer.
    List<Snapshot> timed() {
        return store.read(
                handle ->
                        query(
                                handle,
                                "(auto_delete_seconds is not null or ttl_seconds is not null) and "
                                        + USABLE,
                                Map.of()));
    }

    /// Those that are there, of all accounts.
    List<Snapshot> usable() {
        return store.read(handle -> query(handle, USABLE, Map.of()));
    }

    /// The snapshots whose files must stay.
    Set<SnapshotId> ids() {
        return store.read(
                handle ->
                        handle
                                .createQuery("select id from snapshots where " + USABLE)
                                .mapTo(String.class)
                                .list()
                                .stream()
                                .map(SnapshotId::new)
                                .collect(Collectors.toSet()));
    }

    /// The label of a snapshot; empty when it is deleted.
    Optional<Snapshots.Label> label(SnapshotId id) {
        return labels.look(id.text());
    }

    /// Refuses an account that has as many as it may.
    void requireRoom(AccountId account, Optional<Integer> limit) {
        store.read(handle -> requireRoom(handle, account, limit));
    }

    /// Adds one, within the limit. Its slug must be free.
    void insert(Snapshot snapshot, Optional<Integer> limit) {
        withSlug(
                handle -> {
                    requireRoom(handle, snapshot.account(), limit);
                    insert(handle, snapshot);
                    return snapshot;
                });
    }

    /// Adds a base snapshot, or makes what is there this one. Its slug moves here from whatever had it.
    void publish(Snapshot snapshot) {
        var row = SnapshotRow.all(snapshot);
        store.change(
                handle -> {
                    handle.createUpdate(
                                    "update snapshots set slug = null where account_id = :account_id and slug = :slug")
                            .bindMap(row)
                            .execute();
                    if (handle.createUpdate(update(row)).bindMap(row).execute() == 0) {
                        insert(handle, snapshot);
                    }
                });
    }

    /// Replaces the settings of one that is there; empty when it is not. No other change comes between.
    Optional<Snapshot> change(SnapshotId id, UnaryOperator<Snapshot.Settings> change, Instant now) {
        return withSlug(
                handle -> {
                    var changed =
                            find(handle, id).map(s -> s.with(change.apply(s.settings()), now));
                    changed.map(SnapshotRow::settings)
                            .ifPresent(
                                    row -> handle.createUpdate(update(row)).bindMap(row).execute());
                    return changed;
                });
    }

    /// Marks one as deleted and frees its slug, if it is there and `still` holds in that instant.
    boolean delete(SnapshotId id, Predicate<Snapshot> still, Instant now) {
        return store.write(
                handle ->
                        find(handle, id).filter(still).isPresent()
                                && handle.createUpdate(
                                                        "update snapshots set deleted_at = :now, slug = null where id = :id")
                                                .bind("now", now.toEpochMilli())
                                                .bind("id", id.text())
                                                .execute()
                                        == 1);
    }

    /// Notes a use, without waiting for it to be on disk.
    void used(SnapshotId id, Instant now) {
        store.changeSoon(
                handle ->
                        handle.createUpdate(
                                        "update snapshots set last_used_at = :now where id = :id"
                                                + " and (last_used_at is null or last_used_at < :now)")
                                .bind("now", now.toEpochMilli())
                                .bind("id", id.text())
                                .execute());
    }

    /// Forgets those that were deleted or failed before a moment.
    void purge(Instant before) {
        store.change(
                handle ->
                        handle.createUpdate(
                                        "delete from snapshots where deleted_at < :before or failed_at < :before")
                                .bind("before", before.toEpochMilli())
                                .execute());
    }

    private <T> T withSlug(Function<Handle, T> unit) {
        try {
            return store.write(unit);
        } catch (RuntimeException e) {
            if (Store.isUniqueViolation(e)) {
                throw new Failure(Code.CONFLICT, Snapshots.TAKEN, e);
            }
            throw e;
        }
    }

    private static boolean requireRoom(Handle handle, AccountId account, Optional<Integer> limit) {
        if (limit.isEmpty()) {
            return true;
        }
        long present =
                handle.createQuery(
                                "select count(*) from snapshots where account_id = :account and "
                                        + USABLE)
                        .bind("account", account.toString())
                        .mapTo(Long.class)
                        .one();
        if (present >= limit.get()) {
            throw new Failure(
                    Code.SNAPSHOT_LIMIT_EXCEEDED,
                    "this account may have %d snapshots and has %d; delete one"
                            .formatted(limit.get(), present),
                    Map.of("limit", limit.get(), "current", present));
        }
        return true;
    }

    private static Optional<Snapshot> find(Handle handle, SnapshotId id) {
        return query(handle, "id = :id and " + USABLE, Map.of("id", id.text())).stream()
                .findFirst();
    }

    private static List<Snapshot> query(Handle handle, String where, Map<String, ?> values) {
        return handle.createQuery("select * from snapshots where " + where)
                .bindMap(values)
                .map((row, _) -> SnapshotRow.read(row))
                .list();
    }

    private static void insert(Handle handle, Snapshot snapshot) {
        var row = SnapshotRow.all(snapshot);
        var columns = new TreeSet<>(row.keySet());
        handle.createUpdate(
                        "insert into snapshots (%s) values (%s)"
                                .formatted(
                                        String.join(", ", columns),
                                        columns.stream()
                                                .map(c -> ":" + c)
                                                .collect(Collectors.joining(", "))))
                .bindMap(row)
                .execute();
    }

    private static String update(Map<String, Object> row) {
        return "update snapshots set %s where id = :id"
                .formatted(
                        row.keySet().stream()
                                .filter(c -> !c.equals("id"))
                                .sorted()
                                .map(c -> c + " = :" + c)
                                .collect(Collectors.joining(", ")));
    }
}
