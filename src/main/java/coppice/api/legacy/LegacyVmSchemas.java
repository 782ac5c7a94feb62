package coppice.api.legacy;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the legacy operations on VMs, as contract/vms.md gives them.
final class LegacyVmSchemas {
    private static final Schema STATE =
            Schema.word("starting", "running", "suspending", "suspended", "stopped");

    private static final Schema INSTANCE = Schema.string().orNull();

    private static final Schema DOMAINS = Schema.list(Schema.string());

    static final Schema NOTHING = Schema.object("LegacyNothing");

    static final Schema NAMED =
            Schema.object("LegacyVmName").field("id", Schema.string(), ALWAYS, "");

    private static final Schema.ObjectOf SHOWN =
            Schema.object()
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("vmInstanceId", INSTANCE, ALWAYS, "Its run, or its saved memory.")
                    .field("lastNetworkActivity", Schema.time().orNull(), ALWAYS, "")
                    .field("state", STATE, ALWAYS, "")
                    .field("cpuTimeSeconds", Schema.number().orNull(), ALWAYS, "Of this run.");

    static final Schema VM = Schema.object("LegacyVm").with(SHOWN);

    private static final Schema ITEM =
            Schema.object("LegacyVmItem")
                    .with(SHOWN)
                    .field("metrics", Schema.anything(), ALWAYS, "Always null.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field("persistence", LegacySchemas.PERSISTENCE, ALWAYS, "")
                    .field("snapshotId", Schema.string(), ALWAYS, "What it was made from.")
                    .field("deleted", Schema.bool(), ALWAYS, "")
                    .field("createdDeclaratively", Schema.bool(), ALWAYS, "From a template.");

    static final Schema LIST =
            Schema.object("LegacyVmList")
                    .field("vms", Schema.list(ITEM), ALWAYS, "Newest first.")
                    .field("totalCount", Schema.integer(), ALWAYS, "All that are listed.")
                    .field("runningCount", Schema.integer(), ALWAYS, "")
                    .field("startingCount", Schema.integer(), ALWAYS, "")
                    .field("suspendedCount", Schema.integer(), ALWAYS, "")
                    .field("stoppedCount", Schema.integer(), ALWAYS, "")
                    .field("userId", Schema.string().orNull(), ALWAYS, "Always null.");

    static final Schema CREATED =
            Schema.object("LegacyCreatedVm")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("domains", DOMAINS, ALWAYS, "Empty: this server publishes none yet.")
                    .field("consoleUrl", Schema.string().orNull(), ALWAYS, "Always null.")
                    .field("snapshotId", Schema.string(), ALWAYS, "");

    static final Schema.ObjectOf START =
            Schema.object("LegacyStartVm")
                    .field("idleTimeoutSeconds", Schema.integer().orNull(), OPTIONAL, "Kept.")
                    .field("waitForReadySignal", Schema.bool().orNull(), OPTIONAL, "")
                    .field(
                            "readySignalTimeoutSeconds",
                            Schema.integer().orNull(),
                            OPTIONAL,
                            "1 to 3600.")
                    .field("activityThresholdBytes", Schema.integer().orNull(), OPTIONAL, "Kept.");

    static final Schema STARTED =
            Schema.object("LegacyStartedVm")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("domains", DOMAINS, ALWAYS, "Empty: this server publishes none yet.")
                    .field("console_url", Schema.string().orNull(), ALWAYS, "Always null.");

    static final Schema STOPPED =
            Schema.object("LegacyStoppedVm")
                    .field("vmId", Schema.string(), ALWAYS, "")
                    .field("vmInstanceId", INSTANCE, ALWAYS, "What was stopped.");

    static final Schema AWAITED =
            Schema.object("LegacyAwaitedVm")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field(
                            "exitStatus",
                            Schema.word("stopped", "killed", "crashed", "deleted"),
                            ALWAYS,
                            "How it ended.");

    static final Schema OPTIMIZED =
            Schema.object("LegacyOptimizedVm")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("message", Schema.string(), ALWAYS, "");

    static final Schema.ObjectOf RESIZE =
            Schema.object("LegacyResizeVm")
                    .field("vcpuCount", Schema.integer().orNull(), OPTIONAL, "")
                    .field("memSizeGb", Schema.integer().orNull(), OPTIONAL, "Of 1024 MiB.")
                    .field("rootfsSizeGb", Schema.integer().orNull(), OPTIONAL, "Of 1000 MiB.")
                    .field("sizeMb", Schema.integer().orNull(), OPTIONAL, "The same, in MiB.");

    static final Schema.ObjectOf EXEC =
            Schema.object("LegacyExec")
                    .field("command", Schema.string(), ALWAYS, "Run by sh -c in the VM's workdir.")
                    .field(
                            "terminal",
                            Schema.string().orNull(),
                            OPTIONAL,
                            "Its output also goes to the terminal with this slug.")
                    .field(
                            "timeoutMs",
                            Schema.integer().orNull(),
                            OPTIONAL,
                            "1 to 300000; default 30000.");

    static final Schema EXECUTED =
            Schema.object("LegacyExecuted")
                    .field("stdout", Schema.string(), ALWAYS, "")
                    .field("stderr", Schema.string(), ALWAYS, "")
                    .field(
                            "statusCode",
                            Schema.integer().orNull(),
                            ALWAYS,
                            "128+n when killed by signal n; null at the time limit.");

    private LegacyVmSchemas() {}
}
