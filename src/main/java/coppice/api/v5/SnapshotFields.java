package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.base.Slug;
import coppice.json.JsonObject;
import coppice.vm.Snapshot;
import coppice.vm.SnapshotId;
import java.util.Optional;

/// The settings of a snapshot in request bodies.
final class SnapshotFields {

    private SnapshotFields() {}

    /// The settings after taking or updating `before`: what is not sent stays.
    static Snapshot.Settings settings(JsonObject body, Snapshot.Settings before) {
        var slug =
                body.string("slug")
                        .map(
                                text ->
                                        text.isEmpty()
                                                ? Optional.<Slug>empty()
                                                : Optional.of(slug(body, text)));
        return new Snapshot.Settings(
                slug.orElse(before.slug()),
                BodyFields.label(body, "displayName", before.displayName()),
                BodyFields.seconds(body, "autoDeleteSeconds", 1, before.autoDelete()),
                BodyFields.seconds(body, "ttlSeconds", 1, before.ttl()));
    }

    private static Slug slug(JsonObject body, String text) {
        if (SnapshotId.isId(text)) {
            throw body.fault("slug", "must not look like a snapshot id; choose another one");
        }
        return Slug.parse("slug", text);
    }
}
