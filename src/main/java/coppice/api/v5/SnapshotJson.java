package coppice.api.v5;

import coppice.identity.AccountId;
import coppice.json.JsonWriter;
import coppice.vm.Resources;
import coppice.vm.Snapshot;
import java.time.Duration;

/// Snapshot objects as they are answered.
final class SnapshotJson {

    private SnapshotJson() {}

    /// @param reader who it is shown to: of which VM it was taken is its owner's to know
    static JsonWriter write(Snapshot snapshot, AccountId reader) {
        var settings = snapshot.settings();
        return new JsonWriter()
                .put("id", snapshot.id().text())
                .put("public", snapshot.isPublic())
                .put("slug", settings.slug().map(Object::toString))
                .put("displayName", settings.displayName())
                .put(
                        "sourceVmId",
                        snapshot.sourceVm()
                                .filter(_ -> snapshot.account().equals(reader))
                                .map(Object::toString))
                .put("accountId", snapshot.account().uuid())
                .put("autoDeleteSeconds", settings.autoDelete().map(Duration::toSeconds))
                .put("autoDeleteFromPlan", false)
                .put("ttlSeconds", settings.ttl().map(Duration::toSeconds))
                .put("lastUsedAt", snapshot.lastUsedAt())
                .put("resources", snapshot.resources().map(SnapshotJson::resources))
                .put("createdAt", snapshot.createdAt())
                .put("updatedAt", snapshot.updatedAt());
    }

    static JsonWriter resources(Resources resources) {
        return new JsonWriter()
                .put("cpu", resources.cpu())
                .put("memory", resources.memory().mib())
                .put("storage", resources.storage().mib());
    }
}
