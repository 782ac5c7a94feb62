package coppice.api.legacy;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the legacy operations on identities.
final class LegacyIdentitySchemas {
    private static final Schema USERS = Schema.list(Schema.string()).orNull();

    static final Schema.ObjectOf IDENTITY =
            Schema.object("LegacyIdentity")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("managed", Schema.bool(), ALWAYS, "");

    static final Schema LIST =
            Schema.object("LegacyIdentityList")
                    .field("identities", Schema.list(IDENTITY), ALWAYS, "Newest first.")
                    .field("offset", Schema.integer(), ALWAYS, "As it was asked for.")
                    .field("total", Schema.integer(), ALWAYS, "Not only those of this page.");

    static final Schema.ObjectOf CREATE =
            Schema.object("LegacyCreateIdentity")
                    .field("managed", Schema.bool(), OPTIONAL, "Default false.");

    static final Schema.ObjectOf REVOKE =
            Schema.object("LegacyRevokeIdentityToken")
                    .field("tokenId", Schema.string(), ALWAYS, "A UUID.");

    private static final Schema.ObjectOf TOKEN =
            Schema.object("LegacyIdentityToken").field("id", Schema.string(), ALWAYS, "A UUID.");

    static final Schema TOKENS =
            Schema.object("LegacyIdentityTokens")
                    .field("tokens", Schema.list(TOKEN), ALWAYS, "Newest first.");

    static final Schema NEW_TOKEN =
            Schema.object("LegacyNewIdentityToken")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("token", Schema.string(), ALWAYS, "All of it; it is shown only here.");

    static final Schema.ObjectOf PERMISSION =
            Schema.object("LegacyVmPermission")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("identityId", Schema.string(), ALWAYS, "")
                    .field("vmId", Schema.string(), ALWAYS, "")
                    .field("allowedUsers", USERS, ALWAYS, "null: any user.")
                    .field("grantedAt", Schema.time(), ALWAYS, "")
                    .field("grantedBy", Schema.string(), ALWAYS, "The id of the account.");

    static final Schema PERMISSIONS =
            Schema.object("LegacyVmPermissions")
                    .field("permissions", Schema.list(PERMISSION), ALWAYS, "Newest first.")
                    .field("offset", Schema.integer(), ALWAYS, "As it was asked for.")
                    .field("total", Schema.integer(), ALWAYS, "Not only those of this page.");

    static final Schema.ObjectOf GRANT =
            Schema.object("LegacyGrantVmPermission")
                    .field("allowedUsers", USERS, OPTIONAL, "1 to 64; default null: any user.");

    static final Schema.ObjectOf UPDATE =
            Schema.object("LegacyUpdateVmPermission")
                    .field("allowedUsers", USERS, ALWAYS, "1 to 64; null: any user.");

    static final Schema WHO =
            Schema.object("LegacyWhoAmI")
                    .field("accountId", Schema.string(), ALWAYS, "A UUID.")
                    .field(
                            "identityId",
                            Schema.string().orNull(),
                            ALWAYS,
                            "null when an API key is calling.");

    private LegacyIdentitySchemas() {}
}
