package coppice.vm;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/// [Vm.History] as columns of a VM's row, both ways.
final class HistoryRow {

    private HistoryRow() {}

    static Vm.History read(ResultSet row) throws SQLException {
        var last = row.getLong("last_activity");
        var lastActivity =
                row.wasNull() ? Optional.<Instant>empty() : Optional.of(Instant.ofEpochMilli(last));
        var failures =
                Arrays.stream(row.getString("failures").split(" "))
                        .filter(moment -> !moment.isEmpty())
                        .map(moment -> Instant.ofEpochMilli(Long.parseLong(moment)))
                        .toList();
        return new Vm.History(lastActivity, new Failures(failures, row.getInt("failure_streak")));
    }

    static void write(Vm.History history, Map<String, Object> row) {
        row.put("last_activity", history.lastActivity().map(Instant::toEpochMilli).orElse(null));
        row.put(
                "failures",
                String.join(
                        " ",
                        history.failures().recent().stream()
                                .map(moment -> Long.toString(moment.toEpochMilli()))
                                .toList()));
        row.put("failure_streak", history.failures().streak());
    }
}
