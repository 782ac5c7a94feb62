package coppice.api.legacy;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.api.Route;
import coppice.base.Code;
import coppice.json.Schema;

/// The shape of a legacy create, as contract/vms.md gives it.
final class SetupSchemas {
    private static final Schema.ObjectOf SIZES =
            Schema.object()
                    .field("vcpuCount", Schema.integer(), OPTIONAL, "Default the snapshot's.")
                    .field("memSizeGb", Schema.integer(), OPTIONAL, "Of 1024 MiB.")
                    .field("rootfsSizeGb", Schema.integer(), OPTIONAL, "Of 1000 MiB.");

    private static final Schema TEMPLATE =
            Schema.object("LegacyUnbuiltTemplate")
                    .field("snapshotId", Schema.string(), OPTIONAL, "What the VM is made from.")
                    .with(SIZES)
                    .field("discriminator", Schema.string(), OPTIONAL, "")
                    .field("skipCache", Schema.bool(), OPTIONAL, "");

    private static final Schema USER =
            Schema.object("LegacyLinuxUser")
                    .field("name", Schema.string(), ALWAYS, "")
                    .field("uid", Schema.integer().orNull(), OPTIONAL, "0 to 65535.")
                    .field("gecos", Schema.string().orNull(), OPTIONAL, "A comment.")
                    .field(
                            "groups",
                            Schema.list(Schema.string()).orNull(),
                            OPTIONAL,
                            "Beside its own.")
                    .field("home", Schema.string().orNull(), OPTIONAL, "Default /home/NAME.")
                    .field("shell", Schema.string().orNull(), OPTIONAL, "Default /bin/bash.")
                    .field("system", Schema.bool().orNull(), OPTIONAL, "Default false.");

    private static final Schema GROUP =
            Schema.object("LegacyLinuxGroup")
                    .field("name", Schema.string(), ALWAYS, "")
                    .field("gid", Schema.integer().orNull(), OPTIONAL, "0 to 65535.")
                    .field("system", Schema.bool().orNull(), OPTIONAL, "Default false.");

    private static final Schema FILE =
            Schema.object("LegacyNewFile")
                    .field("content", Schema.string(), ALWAYS, "")
                    .field(
                            "encoding",
                            Schema.word("utf-8", "base64").orNull(),
                            OPTIONAL,
                            "Default utf-8.")
                    .field(
                            "executable",
                            Schema.bool().orNull(),
                            OPTIONAL,
                            "0755 in place of 0644.");

    private static final Schema REPOSITORIES =
            Schema.list(
                    Schema.object("LegacyRepository")
                            .field("repo", Schema.string(), ALWAYS, "Its URL.")
                            .field("path", Schema.string(), ALWAYS, "Where it is cloned to.")
                            .field("rev", Schema.string().orNull(), OPTIONAL, ""));

    private static final Schema GIT =
            Schema.object("LegacyGit")
                    .field(
                            "config",
                            Schema.object()
                                    .field(
                                            "user",
                                            Schema.object()
                                                    .field(
                                                            "name",
                                                            Schema.string().orNull(),
                                                            OPTIONAL,
                                                            "")
                                                    .field(
                                                            "email",
                                                            Schema.string().orNull(),
                                                            OPTIONAL,
                                                            "")
                                                    .field(
                                                            "signingkey",
                                                            Schema.string().orNull(),
                                                            OPTIONAL,
                                                            ""),
                                            OPTIONAL,
                                            "Of the whole system."),
                            OPTIONAL,
                            "")
                    .field("repos", REPOSITORIES, OPTIONAL, "");

    private static final Schema SYSTEMD =
            Schema.object("LegacySystemd")
                    .field("services", Schema.list(ServiceSchemas.SERVICE), OPTIONAL, "New ones.")
                    .field(
                            "patchedServices",
                            Schema.list(ServiceSchemas.PATCH),
                            OPTIONAL,
                            "Changes of those that the VM has.");

    private static final Schema DOMAIN =
            Schema.object("LegacyDomain")
                    .field("domain", Schema.string(), ALWAYS, "")
                    .field("vmPort", Schema.integer().orNull(), OPTIONAL, "Default 443.");

    static final Schema.ObjectOf CREATE =
            Schema.object("LegacyCreateVm")
                    .with(LegacySchemas.VM_SETTINGS)
                    .field("snapshotId", Schema.string(), OPTIONAL, "Default the platform's.")
                    .with(SIZES)
                    .field(
                            "template",
                            TEMPLATE,
                            OPTIONAL,
                            "With sizes and a snapshot only: this server builds none yet.")
                    .field("systemd", SYSTEMD, OPTIONAL, "Services.")
                    .field("users", Schema.list(USER), OPTIONAL, "Linux users.")
                    .field("groups", Schema.list(GROUP), OPTIONAL, "Linux groups.")
                    .field("additionalFiles", Schema.map(FILE), OPTIONAL, "Files by their path.")
                    .field("aptDeps", Schema.list(Schema.string()), OPTIONAL, "Packages.")
                    .field("git", GIT, OPTIONAL, "Configuration and repositories.")
                    .field("gitRepos", REPOSITORIES, OPTIONAL, "Old form of git.repos.")
                    .field(
                            "domains",
                            Schema.list(DOMAIN),
                            OPTIONAL,
                            "Empty: this server publishes none yet.")
                    .field(
                            "recreate",
                            Schema.bool(),
                            OPTIONAL,
                            "Made anew under its id when started within a day of its deletion.")
                    .field(
                            "activityThresholdBytes",
                            Schema.integer(),
                            OPTIONAL,
                            "In ten seconds; traffic of no more is no activity.")
                    .field("discriminator", Schema.string(), OPTIONAL, "Of a template.")
                    .field("skipCache", Schema.bool(), OPTIONAL, "Of a template.");

    private SetupSchemas() {}

    /// Says what is told of users and groups that cannot be.
    static Route refused(Route route) {
        return route.fails(Code.DUPLICATE_USER_NAME, "two users of one name")
                .fails(Code.USER_GROUP_EMPTY, "a user's group without a name")
                .fails(Code.USER_SYSTEM_FLAG_MISMATCH, "a system user with a uid over 999")
                .fails(Code.USER_UID_OUT_OF_RANGE, "a uid that is not 0 to 65535")
                .fails(Code.USER_HOME_INVALID, "no absolute path")
                .fails(Code.USER_SHELL_INVALID, "no absolute path")
                .fails(Code.DUPLICATE_GROUP_NAME, "two groups of one name")
                .fails(Code.GROUP_NAME_EMPTY, "a group without a name")
                .fails(Code.GROUP_NAME_TOO_LONG, "too long a name of a group")
                .fails(Code.GROUP_NAME_INVALID_CHARS, "a group's name with other than [a-z0-9_-]")
                .fails(Code.GROUP_NAME_RESERVED, "a group that every VM has");
    }
}
