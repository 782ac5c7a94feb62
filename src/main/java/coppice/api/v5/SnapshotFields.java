package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.json.JsonObject;
import coppice.vm.Snapshot;
import coppice.vm.SnapshotId;

/// The settings of a snapshot in request bodies.
final class SnapshotFields {

    private SnapshotFields() {}

    /// The settings after taking or updating `before`: what is not sent stays.
    static Snapshot.Settings settings(JsonObject body, Snapshot.Settings before) {
        return new Snapshot.Settings(
                SlugField.read(body, before.slug(), SnapshotId::isId, "look like a snapshot id"),
                BodyFields.label(body, "displayName", before.displayName()),
                BodyFields.seconds(body, "autoDeleteSeconds", 1, before.autoDelete()),
                BodyFields.seconds(body, "ttlSeconds", 1, before.ttl()));
    }
}
