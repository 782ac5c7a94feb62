package coppice.vm;

import coppice.json.Json;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/// [Vm.Legacy] as columns of a VM's row, both ways.
final class LegacyRow {

    private LegacyRow() {}

    static Vm.Legacy read(ResultSet row) throws SQLException {
        var ports =
                Json.parse(
                                "{\"ports\":%s}"
                                        .formatted(row.getString("ports"))
                                        .getBytes(StandardCharsets.UTF_8))
                        .requiredObjects("ports");
        return new Vm.Legacy(
                ports.stream()
                        .map(
                                port ->
                                        new Vm.Legacy.Port(
                                                Math.toIntExact(port.requiredInteger("port")),
                                                Math.toIntExact(
                                                        port.requiredInteger("targetPort"))))
                        .toList(),
                row.getString("workdir"),
                PersistenceJson.read(row.getString("persistence")),
                row.getInt("is_declared") == 1,
                Optional.ofNullable(row.getString("recipe")));
    }

    static void write(Vm.Legacy legacy, Map<String, Object> row) {
        var ports =
                legacy.ports().stream()
                        .map(
                                port ->
                                        new JsonWriter()
                                                .put("port", port.port())
                                                .put("targetPort", port.targetPort()))
                        .toList();
        row.put("ports", new String(Json.writeValue(ports), StandardCharsets.UTF_8));
        row.put("workdir", legacy.workdir());
        row.put("persistence", PersistenceJson.write(legacy.persistence()));
        row.put("is_declared", legacy.isDeclared() ? 1 : 0);
        row.put("recipe", legacy.recipe().orElse(null));
    }
}
