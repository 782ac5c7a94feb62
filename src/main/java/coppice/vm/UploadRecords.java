package coppice.vm;

import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// The rows of uploads in the store.
final class UploadRecords {
    private final Store store;

    UploadRecords(Store store) {
        this.store = store;
    }

    /// Writes a new upload, unless its VM has `most` that were touched after `since`.
    ///
    /// @return whether it was written
    boolean insert(Upload upload, Instant since, int most, Instant now) {
        return store.write(
                handle -> {
                    long open =
                            handle.createQuery(
                                            "select count(*) from uploads where vm_id = :vm and touched_at > :since")
                                    .bind("vm", upload.vm().text())
                                    .bind("since", since.toEpochMilli())
                                    .mapTo(Long.class)
                                    .one();
                    return open < most && insert(handle, upload, now);
                });
    }

    /// A VM that has just been deleted gets none.
    private static boolean insert(Handle handle, Upload upload, Instant now) {
        var wanted = upload.wanted();
        var mode = wanted.mode();
        int written =
                handle.createUpdate(
                                """
                                insert into uploads (id, vm_id, path, size, sha256, mode, received, touched_at)
                                select :id, id, :path, :size, :sha256, :mode, 0, :now from vms where id = :vm
                                """)
                        .bind("id", upload.id())
                        .bind("vm", upload.vm().text())
                        .bind("path", wanted.path().text())
                        .bind("size", wanted.size())
                        .bind("sha256", wanted.sha256().orElse(null))
                        .bind("mode", mode.isPresent() ? (Integer) mode.getAsInt() : null)
                        .bind("now", now.toEpochMilli())
                        .execute();
        return written == 1;
    }

    /// An upload of this VM that was touched after `since`.
    Optional<Upload> find(VmId vm, String id, Instant since) {
        return store.read(
                handle ->
                        handle.createQuery(
                                        "select * from uploads where id = :id and vm_id = :vm and touched_at > :since")
                                .bind("id", id)
                                .bind("vm", vm.text())
                                .bind("since", since.toEpochMilli())
                                .map((row, _) -> read(row))
                                .findOne());
    }

    /// Counts a chunk.
    ///
    /// @return whether the upload is still there
    boolean count(Upload upload, long received, Instant now) {
        return store.write(
                handle ->
                        handle.createUpdate(
                                                """
                                                update uploads set received = :received, touched_at = :now
                                                where id = :id and received = :before
                                                """)
                                        .bind("received", received)
                                        .bind("now", now.toEpochMilli())
                                        .bind("id", upload.id())
                                        .bind("before", upload.received())
                                        .execute()
                                == 1);
    }

    void delete(String id) {
        store.change(
                handle ->
                        handle.createUpdate("delete from uploads where id = :id")
                                .bind("id", id)
                                .execute());
    }

    /// Forgets those of a VM, in the unit of work that removes its row.
    static void forget(Handle handle, VmId vm) {
        handle.createUpdate("delete from uploads where vm_id = :vm")
                .bind("vm", vm.text())
                .execute();
    }

    /// Forgets those that were not touched after this moment.
    void expire(Instant until) {
        if (store.read(handle -> count(handle, until)) > 0) {
            store.change(
                    handle ->
                            handle.createUpdate("delete from uploads where touched_at <= :until")
                                    .bind("until", until.toEpochMilli())
                                    .execute());
        }
    }

    private static long count(Handle handle, Instant until) {
        return handle.createQuery("select count(*) from uploads where touched_at <= :until")
                .bind("until", until.toEpochMilli())
                .mapTo(Long.class)
                .one();
    }

    Set<String> ids() {
        return store.read(
                handle ->
                        handle
                                .createQuery("select id from uploads")
                                .mapTo(String.class)
                                .list()
                                .stream()
                                .collect(Collectors.toSet()));
    }

    private static Upload read(ResultSet row) throws SQLException {
        int mode = row.getInt("mode");
        var bits = row.wasNull() ? OptionalInt.empty() : OptionalInt.of(mode);
        var wanted =
                new Upload.Wanted(
                        new GuestPath(row.getString("path")),
                        row.getLong("size"),
                        Optional.ofNullable(row.getString("sha256")),
                        bits);
        return new Upload(
                row.getString("id"),
                new VmId(row.getString("vm_id")),
                wanted,
                row.getLong("received"));
    }
}
