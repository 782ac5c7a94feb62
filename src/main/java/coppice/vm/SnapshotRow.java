package coppice.vm;

import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// A snapshot as a row of the store, both ways.
final class SnapshotRow {

    private SnapshotRow() {}

    static Snapshot read(ResultSet row) throws SQLException {
        return new Snapshot(
                new SnapshotId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                new Snapshot.Settings(
                        Optional.ofNullable(row.getString("slug")).map(Slug::new),
                        Optional.ofNullable(row.getString("display_name")),
                        number(row, "auto_delete_seconds").map(Duration::ofSeconds),
                        number(row, "ttl_seconds").map(Duration::ofSeconds)),
                row.getInt("is_public") == 1,
                Optional.ofNullable(row.getString("source_vm_id")).map(VmId::new),
                resources(row),
                PersistenceJson.readLasting(row.getString("persistence")),
                standing(row),
                number(row, "last_used_at").map(Instant::ofEpochMilli),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }

    private static Optional<Resources> resources(ResultSet row) throws SQLException {
        var cpu = number(row, "cpu");
        var memory = row.getLong("memory_mib");
        var storage = row.getLong("storage_mib");
        return cpu.map(
                number ->
                        new Resources(
                                Math.toIntExact(number), Size.ofMib(memory), Size.ofMib(storage)));
    }

    private static Snapshot.Standing standing(ResultSet row) throws SQLException {
        var deleted = number(row, "deleted_at").map(Instant::ofEpochMilli);
        var failed = number(row, "failed_at").map(Instant::ofEpochMilli);
        var why = row.getString("failure_reason");
        return deleted.<Snapshot.Standing>map(Snapshot.Deleted::new)
                .or(() -> failed.map(at -> new Snapshot.Failed(at, why)))
                .orElseGet(Snapshot.Usable::new);
    }

    private static Optional<Long> number(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(value);
    }

    /// The values of every column by its name; absent ones are null.
    static Map<String, Object> all(Snapshot snapshot) {
        var row = settings(snapshot);
        row.put("account_id", snapshot.account().toString());
        row.put("is_public", snapshot.isPublic() ? 1 : 0);
        row.put("source_vm_id", snapshot.sourceVm().map(VmId::text).orElse(null));
        row.put("cpu", snapshot.resources().map(Resources::cpu).orElse(null));
        row.put("memory_mib", snapshot.resources().map(r -> r.memory().mib()).orElse(null));
        row.put("storage_mib", snapshot.resources().map(r -> r.storage().mib()).orElse(null));
        row.put("persistence", PersistenceJson.write(snapshot.persistence()));
        row.put("last_used_at", snapshot.lastUsedAt().map(Instant::toEpochMilli).orElse(null));
        row.put("created_at", snapshot.createdAt().toEpochMilli());
        writeStanding(snapshot.standing(), row);
        return row;
    }

    /// The columns that an update of the settings writes.
    static Map<String, Object> settings(Snapshot snapshot) {
        var settings = snapshot.settings();
        var row = new HashMap<String, Object>();
        row.put("id", snapshot.id().text());
        row.put("slug", settings.slug().map(Slug::text).orElse(null));
        row.put("display_name", settings.displayName().orElse(null));
        row.put("auto_delete_seconds", settings.autoDelete().map(Duration::toSeconds).orElse(null));
        row.put("ttl_seconds", settings.ttl().map(Duration::toSeconds).orElse(null));
        row.put("updated_at", snapshot.updatedAt().toEpochMilli());
        return row;
    }

    private static void writeStanding(Snapshot.Standing standing, Map<String, Object> row) {
        row.put("deleted_at", null);
        row.put("failed_at", null);
        row.put("failure_reason", null);
        switch (standing) {
            case Snapshot.Usable _ -> {}
            case Snapshot.Deleted(var at) -> row.put("deleted_at", at.toEpochMilli());
            case Snapshot.Failed(var at, var why) -> {
                row.put("failed_at", at.toEpochMilli());
                row.put("failure_reason", why);
            }
        }
    }
}
