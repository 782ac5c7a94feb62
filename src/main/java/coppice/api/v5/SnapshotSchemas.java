package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the snapshot operations, as contract/snapshots.md gives them.
final class SnapshotSchemas {
    private static final Schema.ObjectOf SETTINGS =
            Schema.object()
                    .field(
                            "slug",
                            Schema.string(),
                            OPTIONAL,
                            "The account's own name for it, unique among its snapshots.")
                    .field("displayName", Schema.string(), OPTIONAL, "1 to 128 characters.")
                    .field(
                            "autoDeleteSeconds",
                            Schema.integer(),
                            OPTIONAL,
                            "Deleted when no VM was created from it for this long.")
                    .field(
                            "ttlSeconds",
                            Schema.integer(),
                            OPTIONAL,
                            "Deleted this long after it was taken.");

    static final Schema.ObjectOf SNAPSHOT =
            Schema.object("Snapshot")
                    .field("id", Schema.string(), ALWAYS, "`sh-` and 20 characters.")
                    .field(
                            "public",
                            Schema.bool(),
                            ALWAYS,
                            "Whether every account can create VMs from it.")
                    .with(SETTINGS)
                    .field(
                            "sourceVmId",
                            Schema.string(),
                            OPTIONAL,
                            "The VM it was taken of, which may be gone; for its owner only.")
                    .field("accountId", Schema.string(), ALWAYS, "Its owner.")
                    .field(
                            "autoDeleteFromPlan",
                            Schema.bool(),
                            ALWAYS,
                            "Whether a plan set autoDeleteSeconds.")
                    .field(
                            "lastUsedAt",
                            Schema.time(),
                            OPTIONAL,
                            "When a VM was last created from it.")
                    .field(
                            "resources",
                            VmSchemas.RESOURCES,
                            OPTIONAL,
                            "What a VM created from it gets.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field("updatedAt", Schema.time(), ALWAYS, "");

    static final Schema.ObjectOf TAKE = Schema.object("TakeSnapshot").with(SETTINGS);

    static final Schema.ObjectOf UPDATE = Schema.object("UpdateSnapshot").with(SETTINGS);

    static final Schema TAKEN =
            Schema.object("TakenSnapshot")
                    .field("snapshotId", Schema.string(), ALWAYS, "")
                    .field("sourceVmId", Schema.string(), ALWAYS, "")
                    .field("snapshot", SNAPSHOT, ALWAYS, "");

    static final Schema SNAPSHOT_LIST =
            Schema.object("SnapshotList")
                    .field("snapshots", Schema.list(SNAPSHOT), ALWAYS, "Newest first.")
                    .field(
                            "totalCount",
                            Schema.integer(),
                            ALWAYS,
                            "All that match, not only those of this page.");

    private SnapshotSchemas() {}
}
