package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the VM operations, as contract/vms.md gives them.
final class VmSchemas {
    static final String[] STATES = {"starting", "running", "pausing", "paused", "stopped"};

    static final Schema RESOURCES =
            Schema.object("Resources")
                    .field("cpu", Schema.integer(), ALWAYS, "Virtual processors.")
                    .field("memory", Schema.integer(), ALWAYS, "MiB.")
                    .field("storage", Schema.integer(), ALWAYS, "MiB.");

    private static final Schema.ObjectOf PLACEMENT =
            Schema.object("Placement")
                    .field(
                            "antiAffinity",
                            Schema.list(
                                    Schema.object("AntiAffinity")
                                            .field(
                                                    "topology",
                                                    Schema.string(),
                                                    ALWAYS,
                                                    "Only `node`: one host machine.")
                                            .field(
                                                    "selector",
                                                    Schema.object()
                                                            .field(
                                                                    "matchLabels",
                                                                    Schema.map(Schema.string()),
                                                                    ALWAYS,
                                                                    "1 to 8 entries; a VM matches when its metadata has all."),
                                                    ALWAYS,
                                                    "Which VMs to keep away from.")),
                            OPTIONAL,
                            "At most 8 rules.");

    static final Schema.ObjectOf VM =
            timers(
                            Schema.object("Vm")
                                    .field(
                                            "id",
                                            Schema.string(),
                                            ALWAYS,
                                            "`vm-` and 20 characters; stable for the VM's life.")
                                    .field(
                                            "state",
                                            Schema.word(STATES),
                                            ALWAYS,
                                            "Where the VM is in its life.")
                                    .field(
                                            "slug",
                                            Schema.string(),
                                            OPTIONAL,
                                            "The account's own name for it.")
                                    .field(
                                            "displayName",
                                            Schema.string(),
                                            OPTIONAL,
                                            "A free label.")
                                    .field("resources", RESOURCES, ALWAYS, "What it has.")
                                    .field(
                                            "snapshotId",
                                            Schema.string(),
                                            OPTIONAL,
                                            "The snapshot it was made from.")
                                    .field(
                                            "sourceSnapshotSlugAtCreate",
                                            Schema.string(),
                                            OPTIONAL,
                                            "That snapshot's slug then.")
                                    .field(
                                            "sourceSnapshotSlug",
                                            Schema.string(),
                                            OPTIONAL,
                                            "That snapshot's slug now.")
                                    .field(
                                            "sourceSnapshotDisplayName",
                                            Schema.string(),
                                            OPTIONAL,
                                            "That snapshot's name now."))
                    .field(
                            "autoDeleteFromPlan",
                            Schema.bool(),
                            ALWAYS,
                            "Whether a plan set autoDeleteSeconds.")
                    .field(
                            "totalRunSeconds",
                            Schema.integer(),
                            ALWAYS,
                            "Seconds spent running, all runs.")
                    .field(
                            "automaticRestart",
                            Schema.bool(),
                            ALWAYS,
                            "Whether it is started again after a crash.")
                    .field("metadata", Schema.map(Schema.string()), ALWAYS, "Labels.")
                    .field("placement", PLACEMENT, OPTIONAL, "As created.")
                    .field(
                            "cpuTimeSeconds",
                            Schema.number(),
                            OPTIONAL,
                            "CPU time of the present run.")
                    .field(
                            "lastNetworkActivity",
                            Schema.time(),
                            OPTIONAL,
                            "Last use; the idle timeout runs from it.")
                    .field(
                            "vpcs",
                            Schema.list(PlaceSchemas.VM_NETWORK),
                            ALWAYS,
                            "Its network; at most one.")
                    .field(
                            "networks",
                            Schema.list(PlaceSchemas.VM_NETWORK),
                            ALWAYS,
                            "The same as vpcs.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field(
                            "updatedAt",
                            Schema.time(),
                            ALWAYS,
                            "Moves on update, resize and change of state.");

    static final Schema CREATED_VM =
            Schema.object("CreatedVm")
                    .with(VM)
                    .field(
                            "firewallRules",
                            Schema.list(FirewallSchemas.RULE),
                            ALWAYS,
                            "The rules it was created with.")
                    .field(
                            "tlsRules",
                            Schema.list(Schema.anything()),
                            ALWAYS,
                            "The TLS rules it was created with.");

    static final Schema VM_LIST =
            Schema.object("VmList")
                    .field("vms", Schema.list(VM), ALWAYS, "Newest first.")
                    .field(
                            "totalCount",
                            Schema.integer(),
                            ALWAYS,
                            "All that match, not only those of this page.")
                    .field("runningCount", Schema.integer(), ALWAYS, "")
                    .field("startingCount", Schema.integer(), ALWAYS, "")
                    .field("pausingCount", Schema.integer(), ALWAYS, "")
                    .field("pausedCount", Schema.integer(), ALWAYS, "")
                    .field("stoppedCount", Schema.integer(), ALWAYS, "");

    static final Schema.ObjectOf CREATE =
            settings(
                            timers(
                                    Schema.object("CreateVm")
                                            .field(
                                                    "firewall",
                                                    FirewallSchemas.INLINE,
                                                    ALWAYS,
                                                    "What the VM may reach and who may reach it. Nothing else is allowed.")
                                            .field(
                                                    "tls",
                                                    Schema.object()
                                                            .field(
                                                                    "rules",
                                                                    Schema.list(Schema.anything()),
                                                                    OPTIONAL,
                                                                    "TLS rules."),
                                                    OPTIONAL,
                                                    "TLS rules.")
                                            .field(
                                                    "snapshotId",
                                                    Schema.string(),
                                                    OPTIONAL,
                                                    "Id, own slug or public owner/slug; the platform's default if absent.")))
                    .field("vpcs", Schema.list(PlaceSchemas.JOIN), OPTIONAL, "At most one network.")
                    .field(
                            "networks",
                            Schema.list(PlaceSchemas.JOIN),
                            OPTIONAL,
                            "Old name of vpcs.")
                    .field("placement", PLACEMENT, OPTIONAL, "Fixed for life.");

    static final Schema.ObjectOf UPDATE = settings(timers(Schema.object("UpdateVm")));

    static final Schema.ObjectOf RESIZE =
            Schema.object("ResizeVm")
                    .field("cpu", Schema.integer(), OPTIONAL, "Up to 64.")
                    .field("memory", Schema.integer(), OPTIONAL, "MiB, up to 131072.")
                    .field("storage", Schema.integer(), OPTIONAL, "MiB, up to 1024000.");

    static final Schema.ObjectOf EXEC =
            Schema.object("Exec")
                    .field("command", Schema.string(), ALWAYS, "Run by sh -c in the user's home.")
                    .field(
                            "linuxUser",
                            Schema.string(),
                            OPTIONAL,
                            "Default: the user with uid 1000, else root.")
                    .field("timeoutMs", Schema.integer(), OPTIONAL, "1 to 300000; default 30000.")
                    .field(
                            "env",
                            Schema.map(Schema.string()),
                            OPTIONAL,
                            "Names match [A-Za-z_][A-Za-z0-9_]*.")
                    .field("stdin", Schema.base64(), OPTIONAL, "At most 1 MiB decoded.");

    static final Schema EXEC_RESULT =
            Schema.object("ExecResult")
                    .field(
                            "stdout",
                            Schema.string(),
                            ALWAYS,
                            "At most 4 MiB; invalid UTF-8 is replaced.")
                    .field(
                            "stderr",
                            Schema.string(),
                            ALWAYS,
                            "At most 4 MiB; invalid UTF-8 is replaced.")
                    .field(
                            "statusCode",
                            Schema.integer().orNull(),
                            ALWAYS,
                            "null: killed by the timeout; 128+n: by signal n.")
                    .field("truncated", Schema.bool(), OPTIONAL, "true when output was dropped.");

    private VmSchemas() {}

    private static Schema.ObjectOf timers(Schema.ObjectOf object) {
        return object.field(
                        "idleTimeoutSeconds",
                        Schema.integer(),
                        OPTIONAL,
                        "Paused when idle for this long.")
                .field(
                        "autoDeleteSeconds",
                        Schema.integer(),
                        OPTIONAL,
                        "Deleted when not running for this long.")
                .field(
                        "ttlSeconds",
                        Schema.integer(),
                        OPTIONAL,
                        "Deleted this long after its creation.")
                .field(
                        "maxRunSeconds",
                        Schema.integer(),
                        OPTIONAL,
                        "Paused after running for this long.")
                .field(
                        "maxRunTotalSeconds",
                        Schema.integer(),
                        OPTIONAL,
                        "Paused for good after running for this long in all.");
    }

    private static Schema.ObjectOf settings(Schema.ObjectOf object) {
        return object.field("slug", Schema.string(), OPTIONAL, "Unique in the account.")
                .field(
                        "reassignSlug",
                        Schema.bool(),
                        OPTIONAL,
                        "Take the slug from the VM that holds it.")
                .field("displayName", Schema.string(), OPTIONAL, "1 to 128 characters.")
                .field("automaticRestart", Schema.bool(), OPTIONAL, "Default true.")
                .field("metadata", Schema.map(Schema.string()), OPTIONAL, "At most 64 entries.");
    }
}
