package coppice.vm;

import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.process.ProcessId;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// A VM as a row of the store, both ways. States are spread over columns; only those of the present state have values.
final class VmRow {

    private VmRow() {}

    static Vm read(ResultSet row) throws SQLException {
        return new Vm(
                new VmId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                state(row),
                new Vm.Settings(
                        Optional.ofNullable(row.getString("slug")).map(Slug::new),
                        Optional.ofNullable(row.getString("display_name")),
                        new Timers(
                                seconds(row, "idle_timeout_seconds"),
                                seconds(row, "auto_delete_seconds"),
                                seconds(row, "ttl_seconds"),
                                seconds(row, "max_run_seconds"),
                                seconds(row, "max_run_total_seconds")),
                        row.getInt("automatic_restart") == 1,
                        labels(row),
                        row.getLong("activity_threshold_bytes")),
                new Vm.Hardware(
                        new Resources(
                                row.getInt("cpu"),
                                Size.ofMib(row.getLong("memory_mib")),
                                Size.ofMib(row.getLong("storage_mib"))),
                        ShapeJson.read(
                                Json.parse(
                                        row.getString("shape").getBytes(StandardCharsets.UTF_8))),
                        row.getInt("qemu_user")),
                new Vm.Origin(
                        new SnapshotId(row.getString("snapshot_id")),
                        Optional.ofNullable(row.getString("source_snapshot_slug_at_create")),
                        Placement.fromStored(Optional.ofNullable(row.getString("placement")))),
                LegacyRow.read(row),
                HistoryRow.read(row),
                Duration.ofMillis(row.getLong("total_run_millis")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }

    private static Map<String, String> labels(ResultSet row) throws SQLException {
        return Json.parse(
                        ("{\"m\":" + row.getString("metadata") + "}")
                                .getBytes(StandardCharsets.UTF_8))
                .stringMap("m")
                .orElseThrow();
    }

    private static VmState state(ResultSet row) throws SQLException {
        var since = Instant.ofEpochMilli(row.getLong("state_since"));
        return switch (row.getString("state")) {
            case "creating" -> new VmState.Creating(since);
            case "starting" -> starting(row, since);
            case "running" -> running(row);
            case "pausing" -> new VmState.Pausing(since, running(row), generation(row));
            default -> resting(row, row.getString("state"), since);
        };
    }

    /// One that waits to be started again has no state before.
    private static VmState starting(ResultSet row, Instant since) throws SQLException {
        var prior = Optional.ofNullable(row.getString("prior_state"));
        return prior.isEmpty()
                ? resting(row, "stopped", since)
                : new VmState.Starting(
                        since,
                        resting(
                                row,
                                prior.get(),
                                Instant.ofEpochMilli(row.getLong("prior_since"))));
    }

    private static VmState.Resting resting(ResultSet row, String word, Instant since)
            throws SQLException {
        var due = row.getLong("restart_at");
        if (!row.wasNull()) {
            return new VmState.Restarting(
                    since,
                    Instant.ofEpochMilli(due),
                    Optional.ofNullable(row.getString("failure")));
        }
        return word.equals("paused")
                ? new VmState.Paused(since, generation(row))
                : new VmState.Stopped(since, Optional.ofNullable(row.getString("failure")));
    }

    private static VmState.Running running(ResultSet row) throws SQLException {
        return new VmState.Running(
                Instant.ofEpochMilli(row.getLong("running_since")),
                UUID.fromString(row.getString("run_id")),
                new ProcessId(row.getLong("qemu_pid"), row.getLong("qemu_start")));
    }

    private static UUID generation(ResultSet row) throws SQLException {
        return UUID.fromString(row.getString("generation"));
    }

    private static Optional<Duration> seconds(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(Duration.ofSeconds(value));
    }

    /// The values of every column by its name; absent ones are null.
    static Map<String, Object> all(Vm vm) {
        var row = new HashMap<String, Object>();
        row.put("account_id", vm.account().toString());
        row.put("snapshot_id", vm.origin().snapshot().text());
        row.put("source_snapshot_slug_at_create", vm.origin().snapshotSlug().orElse(null));
        row.put("placement", vm.origin().placement().stored().orElse(null));
        row.put("created_at", vm.createdAt().toEpochMilli());
        LegacyRow.write(vm.legacy(), row);
        row.putAll(settings(vm));
        row.putAll(progress(vm));
        return row;
    }

    /// The columns that an update of the settings writes.
    static Map<String, Object> settings(Vm vm) {
        var row = new HashMap<String, Object>();
        row.put("id", vm.id().text());
        row.put("updated_at", vm.updatedAt().toEpochMilli());
        writeSettings(vm.settings(), row);
        return row;
    }

    /// The columns that a change of state or hardware writes.
    static Map<String, Object> progress(Vm vm) {
        var row = new HashMap<String, Object>();
        row.put("id", vm.id().text());
        row.put("updated_at", vm.updatedAt().toEpochMilli());
        row.put("total_run_millis", vm.totalRun().toMillis());
        HistoryRow.write(vm.history(), row);
        writeHardware(vm.hardware(), row);
        writeState(vm.state(), row);
        return row;
    }

    private static void writeSettings(Vm.Settings settings, Map<String, Object> row) {
        row.put("slug", settings.slug().map(Slug::text).orElse(null));
        row.put("display_name", settings.displayName().orElse(null));
        row.put("idle_timeout_seconds", seconds(settings.timers().idle()));
        row.put("auto_delete_seconds", seconds(settings.timers().autoDelete()));
        row.put("ttl_seconds", seconds(settings.timers().ttl()));
        row.put("max_run_seconds", seconds(settings.timers().maxRun()));
        row.put("max_run_total_seconds", seconds(settings.timers().maxRunTotal()));
        row.put("automatic_restart", settings.automaticRestart() ? 1 : 0);
        row.put("activity_threshold_bytes", settings.activityThreshold());
        row.put(
                "metadata",
                new String(Json.writeValue(settings.metadata()), StandardCharsets.UTF_8));
    }

    private static void writeHardware(Vm.Hardware hardware, Map<String, Object> row) {
        row.put("cpu", hardware.resources().cpu());
        row.put("memory_mib", hardware.resources().memory().mib());
        row.put("storage_mib", hardware.resources().storage().mib());
        row.put(
                "shape",
                new String(Json.write(ShapeJson.write(hardware.shape())), StandardCharsets.UTF_8));
        row.put("qemu_user", hardware.user());
    }

    private static void writeState(VmState state, Map<String, Object> row) {
        for (var column :
                new String[] {
                    "prior_state",
                    "prior_since",
                    "restart_at",
                    "running_since",
                    "run_id",
                    "generation",
                    "qemu_pid",
                    "qemu_start",
                    "failure"
                }) {
            row.put(column, null);
        }
        row.put("state_since", state.since().toEpochMilli());
        switch (state) {
            case VmState.Creating _ -> row.put("state", "creating");
            case VmState.Starting(_, var before) -> {
                writeResting(before, row);
                row.put("state", "starting");
                row.put("prior_state", before instanceof VmState.Paused ? "paused" : "stopped");
                row.put("prior_since", before.since().toEpochMilli());
            }
            case VmState.Running running -> writeRunning(running, row);
            case VmState.Pausing(_, var running, var generation) -> {
                writeRunning(running, row);
                row.put("state", "pausing");
                row.put("generation", generation.toString());
            }
            case VmState.Resting resting -> writeResting(resting, row);
        }
    }

    private static void writeRunning(VmState.Running running, Map<String, Object> row) {
        row.put("state", "running");
        row.put("running_since", running.since().toEpochMilli());
        row.put("run_id", running.run().toString());
        row.put("qemu_pid", running.process().pid());
        row.put("qemu_start", running.process().startTicks());
    }

    private static void writeResting(VmState.Resting resting, Map<String, Object> row) {
        row.put("state", resting.word());
        switch (resting) {
            case VmState.Paused(_, var generation) -> row.put("generation", generation.toString());
            case VmState.Stopped(_, var why) -> row.put("failure", why.orElse(null));
            case VmState.Restarting(_, var due, var why) -> {
                row.put("restart_at", due.toEpochMilli());
                row.put("failure", why.orElse(null));
            }
        }
    }

    private static Object seconds(Optional<Duration> duration) {
        return duration.map(Duration::toSeconds).orElse(null);
    }
}
