package coppice.api.legacy;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.api.Route;
import coppice.base.Code;
import coppice.json.Schema;

/// The shapes of services, as contract/vm-systemd.md gives them.
final class ServiceSchemas {
    private static final Schema RESTART =
            Schema.object("LegacyRestartPolicy")
                    .field(
                            "policy",
                            Schema.word("no", "on-failure", "always", "on-abnormal"),
                            ALWAYS,
                            "When it is started again.")
                    .field("restartSec", Schema.integer().orNull(), OPTIONAL, "Wait before that.")
                    .field(
                            "startLimitBurst",
                            Schema.integer().orNull(),
                            OPTIONAL,
                            "So many starts at most,")
                    .field(
                            "startLimitIntervalSec",
                            Schema.integer().orNull(),
                            OPTIONAL,
                            "within so many seconds.");

    private static final Schema NAMES = Schema.list(Schema.string()).orNull();

    /// What a patch says too.
    private static final Schema.ObjectOf SETTINGS =
            Schema.object()
                    .field(
                            "env",
                            Schema.map(Schema.string()).orNull(),
                            OPTIONAL,
                            "Its environment.")
                    .field("user", Schema.string().orNull(), OPTIONAL, "Default root.")
                    .field("group", Schema.string().orNull(), OPTIONAL, "")
                    .field("workdir", Schema.string().orNull(), OPTIONAL, "Default the VM's.")
                    .field("after", NAMES, OPTIONAL, "Units that are started before it.")
                    .field("requires", NAMES, OPTIONAL, "Units without which it does not run.")
                    .field("onFailure", NAMES, OPTIONAL, "Units that are started when it fails.")
                    .field("wantedBy", NAMES, OPTIONAL, "Default multi-user.target.")
                    .field(
                            "enable",
                            Schema.bool().orNull(),
                            OPTIONAL,
                            "Start it, now and at boot; default true.")
                    .field(
                            "timeoutSec",
                            Schema.integer().orNull(),
                            OPTIONAL,
                            "Of its start and its stop; 0 for none.")
                    .field(
                            "deleteAfterSuccess",
                            Schema.bool().orNull(),
                            OPTIONAL,
                            "Of a oneshot: it is removed when it has succeeded.")
                    .field(
                            "readySignal",
                            Schema.bool().orNull(),
                            OPTIONAL,
                            "It tells systemd when it is ready.")
                    .field("watchdogSec", Schema.integer().orNull(), OPTIONAL, "")
                    .field("restartPolicy", RESTART.orNull(), OPTIONAL, "");

    static final Schema.ObjectOf SERVICE =
            Schema.object("LegacyService")
                    .field("name", Schema.string(), ALWAYS, "Its unit is NAME.service.")
                    .field("mode", Schema.word("service", "oneshot"), ALWAYS, "")
                    .field(
                            "exec",
                            Schema.list(Schema.string()),
                            ALWAYS,
                            "Command lines of the shell, in order; of a service, the last one stays.")
                    .field(
                            "remainAfterExit",
                            Schema.bool().orNull(),
                            OPTIONAL,
                            "Of a oneshot; default true.")
                    .with(SETTINGS);

    static final Schema PATCH =
            Schema.object("LegacyServicePatch")
                    .field("name", Schema.string(), ALWAYS, "Of a service that the VM has.")
                    .field("mode", Schema.word("service", "oneshot").orNull(), OPTIONAL, "")
                    .field("exec", NAMES, OPTIONAL, "In place of its commands.")
                    .with(SETTINGS);

    static final Schema LIST =
            Schema.object("LegacyServiceList")
                    .field(
                            "services",
                            Schema.list(
                                    Schema.object("LegacyServiceName")
                                            .field("name", Schema.string(), ALWAYS, "")),
                            ALWAYS,
                            "Sorted.");

    static final Schema CREATED =
            Schema.object("LegacyCreatedService")
                    .field("success", Schema.bool(), ALWAYS, "")
                    .field("message", Schema.string(), ALWAYS, "")
                    .field("serviceName", Schema.string(), ALWAYS, "");

    static final Schema DONE =
            Schema.object("LegacyDeletedService")
                    .field("success", Schema.bool(), ALWAYS, "")
                    .field("message", Schema.string(), ALWAYS, "");

    static final Schema STATUS =
            Schema.object("LegacyServiceStatus")
                    .field("name", Schema.string(), ALWAYS, "")
                    .field("activeState", Schema.string(), ALWAYS, "")
                    .field("subState", Schema.string(), ALWAYS, "")
                    .field("loadState", Schema.string(), ALWAYS, "")
                    .field("description", Schema.string(), ALWAYS, "");

    static final Schema LOGS =
            Schema.object("LegacyServiceLogs")
                    .field(
                            "logs",
                            Schema.list(
                                    Schema.object("LegacyServiceLog")
                                            .field("message", Schema.string(), ALWAYS, "")
                                            .field("timestamp", Schema.time(), ALWAYS, "")
                                            .field(
                                                    "priority",
                                                    Schema.string().orNull(),
                                                    ALWAYS,
                                                    "The journal's number.")
                                            .field("unit", Schema.string().orNull(), ALWAYS, "")),
                            ALWAYS,
                            "Oldest first.");

    static final Schema.ObjectOf ACT =
            Schema.object("LegacyServiceIds")
                    .field(
                            "services",
                            Schema.list(
                                    Schema.object("LegacyServiceId")
                                            .field("id", Schema.string(), ALWAYS, "")),
                            ALWAYS,
                            "At least one.");

    static final Schema RESULTS =
            Schema.object("LegacyServiceResults")
                    .field(
                            "results",
                            Schema.list(
                                    Schema.object("LegacyServiceResult")
                                            .field("serviceId", Schema.string(), ALWAYS, "")
                                            .field("success", Schema.bool(), ALWAYS, "")
                                            .field("message", Schema.string(), ALWAYS, "")),
                            ALWAYS,
                            "One of each, in order.");

    private ServiceSchemas() {}

    /// Says what is told of a service that cannot be.
    static Route refused(Route route) {
        return route.fails(Code.SERVICE_NAME_EMPTY, "no name")
                .fails(Code.SERVICE_NAME_TOO_LONG, "over 128 characters")
                .fails(Code.SERVICE_NAME_INVALID_PREFIX, "it begins with . or -")
                .fails(Code.SERVICE_NAME_INVALID_CHARS, "a slash, NUL or white space")
                .fails(Code.EXEC_EMPTY, "no command, or an empty one")
                .fails(Code.ENV_KEY_EMPTY, "a variable without a name")
                .fails(Code.ENV_KEY_CONTAINS_EQUALS, "a variable's name with =")
                .fails(Code.USER_EMPTY, "sent but empty")
                .fails(Code.GROUP_EMPTY, "sent but empty")
                .fails(Code.WORKDIR_EMPTY, "sent but empty")
                .fails(Code.WANTED_BY_EMPTY, "sent but empty")
                .fails(Code.AFTER_ARRAY_CONTAINS_EMPTY, "an empty name")
                .fails(Code.REQUIRES_ARRAY_CONTAINS_EMPTY, "an empty name")
                .fails(Code.ON_FAILURE_ARRAY_CONTAINS_EMPTY, "an empty name");
    }
}
