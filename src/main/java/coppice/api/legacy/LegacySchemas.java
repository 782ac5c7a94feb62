package coppice.api.legacy;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the legacy operations, as contract/vms.md and contract/snapshots.md give them.
final class LegacySchemas {
    static final Schema.ObjectOf PERSISTENCE =
            Schema.object("LegacyPersistence")
                    .field(
                            "type",
                            Schema.word("sticky", "ephemeral", "persistent"),
                            ALWAYS,
                            "How willing the owner is to lose it.")
                    .field("priority", Schema.integer(), OPTIONAL, "Of sticky: 0 to 10, default 5.")
                    .field(
                            "deleteEvent",
                            Schema.word("OnStop", "OnSuspend").orNull(),
                            OPTIONAL,
                            "Of ephemeral; default OnSuspend, which is a stop too.");

    private static final Schema SNAPSHOT_PERSISTENCE =
            Schema.anyOf(Schema.word("sticky", "persistent"), PERSISTENCE);

    private static final Schema PORT =
            Schema.object("LegacyPort")
                    .field("port", Schema.integer(), ALWAYS, "443 or 8081.")
                    .field("targetPort", Schema.integer(), ALWAYS, "1 to 65535.");

    /// What a fork and a template say alike.
    static final Schema.ObjectOf VM_SETTINGS =
            Schema.object()
                    .field(
                            "idleTimeoutSeconds",
                            Schema.integer(),
                            OPTIONAL,
                            "Suspended when idle for this long; -1 for never.")
                    .field(
                            "ports",
                            Schema.list(PORT),
                            OPTIONAL,
                            "What is published; default port 3000 on 443, [] for nothing.")
                    .field(
                            "waitForReadySignal",
                            Schema.bool(),
                            OPTIONAL,
                            "Default true. A VM is answered when it takes commands, which is ready.")
                    .field("readySignalTimeoutSeconds", Schema.integer(), OPTIONAL, "1 to 3600.")
                    .field(
                            "workdir",
                            Schema.string(),
                            OPTIONAL,
                            "Where legacy commands and files start; an absolute path.")
                    .field("persistence", PERSISTENCE, OPTIONAL, "Default sticky with priority 5.");

    static final Schema.ObjectOf FORK =
            Schema.object("LegacyFork")
                    .field("count", Schema.integer(), OPTIONAL, "1 to 10; default 1.")
                    .with(VM_SETTINGS);

    static final Schema FORKED =
            Schema.object("LegacyForked")
                    .field("vmId", Schema.string(), ALWAYS, "The VM that was copied.")
                    .field(
                            "forks",
                            Schema.list(
                                    Schema.object("LegacyForkedVm")
                                            .field("id", Schema.string(), ALWAYS, "")
                                            .field(
                                                    "domains",
                                                    Schema.list(Schema.string()),
                                                    ALWAYS,
                                                    "Host names of the published ports. Empty: this server publishes none yet.")
                                            .field(
                                                    "consoleUrl",
                                                    Schema.string().orNull(),
                                                    ALWAYS,
                                                    "Always null.")),
                            ALWAYS,
                            "The copies.");

    static final Schema SUSPENDED =
            Schema.object("LegacySuspended")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("vmInstanceId", Schema.string(), ALWAYS, "Names its saved memory.")
                    .field("snapshotLayerId", Schema.string(), ALWAYS, "Opaque.");

    static final Schema.ObjectOf TAKE =
            Schema.object("LegacyTakeSnapshot")
                    .field("name", Schema.string(), OPTIONAL, "1 to 128 characters.")
                    .field("persistence", SNAPSHOT_PERSISTENCE, OPTIONAL, "Default persistent.");

    static final Schema TAKEN =
            Schema.object("LegacyTakenSnapshot")
                    .field("snapshotId", Schema.string(), ALWAYS, "")
                    .field("sourceVmId", Schema.string(), ALWAYS, "")
                    .field(
                            "sourceVmInstanceId",
                            Schema.string().orNull(),
                            ALWAYS,
                            "The run of the VM that it was taken of.");

    static final Schema.ObjectOf UPDATE =
            Schema.object("LegacyUpdateSnapshot")
                    .field(
                            "name",
                            Schema.string().orNull(),
                            OPTIONAL,
                            "1 to 128 characters; null or empty clears it.");

    static final Schema UPDATED =
            Schema.object("LegacyUpdatedSnapshot")
                    .field("snapshot_id", Schema.string(), ALWAYS, "")
                    .field("name", Schema.string().orNull(), ALWAYS, "");

    static final Schema DELETED =
            Schema.object("LegacyDeletedSnapshot")
                    .field("snapshot_id", Schema.string(), ALWAYS, "")
                    .field("snapshotId", Schema.string(), ALWAYS, "The same.");

    private static final Schema SNAPSHOT =
            Schema.object("LegacySnapshot")
                    .field("snapshotId", Schema.string(), ALWAYS, "")
                    .field("sourceVmId", Schema.string(), ALWAYS, "Empty when there is none.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field("accountId", Schema.string().orNull(), ALWAYS, "")
                    .field("name", Schema.string().orNull(), ALWAYS, "")
                    .field("failureReason", Schema.string().orNull(), ALWAYS, "")
                    .field("failed", Schema.bool(), ALWAYS, "")
                    .field("deleted", Schema.bool(), ALWAYS, "")
                    .field("snapshotPersistence", PERSISTENCE, ALWAYS, "")
                    .field("vcpuCount", Schema.integer().orNull(), ALWAYS, "")
                    .field("memSizeMib", Schema.integer().orNull(), ALWAYS, "")
                    .field("rootfsSizeMb", Schema.integer().orNull(), ALWAYS, "");

    static final Schema SNAPSHOT_LIST =
            Schema.object("LegacySnapshotList")
                    .field("snapshots", Schema.list(SNAPSHOT), ALWAYS, "Newest first.")
                    .field("totalCount", Schema.integer(), ALWAYS, "All that are listed.")
                    .field("failedCount", Schema.integer(), ALWAYS, "Of these, the failed ones.")
                    .field("deletedCount", Schema.integer(), ALWAYS, "And the deleted ones.");

    private static final Schema TEMPLATE =
            Schema.object("LegacyTemplate")
                    .field("snapshotId", Schema.string(), OPTIONAL, "What to build on.")
                    .field(
                            "baseImage",
                            Schema.object()
                                    .field("dockerfileContent", Schema.string(), OPTIONAL, ""),
                            OPTIONAL,
                            "Refused: this server builds no container images.")
                    .field("vcpuCount", Schema.integer(), OPTIONAL, "")
                    .field("memSizeGb", Schema.integer(), OPTIONAL, "Of 1024 MiB.")
                    .field("rootfsSizeGb", Schema.integer(), OPTIONAL, "Of 1000 MiB.")
                    .with(VM_SETTINGS)
                    .field("systemd", Schema.object(), OPTIONAL, "Services.")
                    .field("users", Schema.list(Schema.object()), OPTIONAL, "Linux users.")
                    .field("groups", Schema.list(Schema.object()), OPTIONAL, "Linux groups.")
                    .field(
                            "additionalFiles",
                            Schema.map(Schema.object()),
                            OPTIONAL,
                            "Files by their path.")
                    .field("gitRepos", Schema.list(Schema.object()), OPTIONAL, "Old form of git.")
                    .field("git", Schema.object(), OPTIONAL, "Repositories and configuration.")
                    .field("aptDeps", Schema.list(Schema.string()), OPTIONAL, "Packages.")
                    .field(
                            "discriminator",
                            Schema.string(),
                            OPTIONAL,
                            "Makes equal templates different ones.")
                    .field("skipCache", Schema.bool(), OPTIONAL, "Builds anew.");

    static final Schema.ObjectOf BUILD =
            Schema.object("LegacyBuildSnapshot")
                    .field("template", TEMPLATE, ALWAYS, "What to build.")
                    .field("name", Schema.string(), OPTIONAL, "1 to 128 characters.")
                    .field("persistence", SNAPSHOT_PERSISTENCE, OPTIONAL, "Default persistent.");

    static final Schema BUILT =
            Schema.object("LegacyBuiltSnapshot").field("snapshotId", Schema.string(), ALWAYS, "");

    private LegacySchemas() {}
}
