package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the operations on identities, as contract/auth-and-identities.md gives them.
final class IdentitySchemas {
    private static final String MANAGED = "Whether it belongs to the platform's own machinery.";
    private static final Schema USERS = Schema.list(Schema.string()).orNull();

    static final Schema.ObjectOf ITEM =
            Schema.object("IdentityItem")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("managed", Schema.bool(), ALWAYS, MANAGED);

    static final Schema IDENTITY =
            Schema.object("Identity")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("accountId", Schema.string(), ALWAYS, "A UUID.")
                    .field("managed", Schema.bool(), ALWAYS, MANAGED);

    static final Schema LIST =
            Schema.object("IdentityList")
                    .field("identities", Schema.list(ITEM), ALWAYS, "Newest first.")
                    .field(
                            "total",
                            Schema.integer(),
                            ALWAYS,
                            "All that were asked for, not only those of this page.");

    static final Schema.ObjectOf CREATE =
            Schema.object("CreateIdentity")
                    .field("managed", Schema.bool(), OPTIONAL, MANAGED + " Default false.");

    static final Schema TOKEN =
            Schema.object("IdentityToken").field("id", Schema.string(), ALWAYS, "A UUID.");

    static final Schema NEW_TOKEN =
            Schema.object("NewIdentityToken")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("token", Schema.string(), ALWAYS, "All of it; it is shown only here.");

    static final Schema.ObjectOf PERMISSION =
            Schema.object("VmPermission")
                    .field("id", Schema.string(), ALWAYS, "A UUID.")
                    .field("identityId", Schema.string(), ALWAYS, "")
                    .field("vmId", Schema.string(), ALWAYS, "An id, never a slug.")
                    .field("allowedLinuxUsers", USERS, ALWAYS, "null: any user.")
                    .field("grantedAt", Schema.time(), ALWAYS, "Stays when the users change.")
                    .field("grantedBy", Schema.string(), ALWAYS, "The id of the account.");

    static final Schema.ObjectOf GRANT =
            Schema.object("GrantVmPermission")
                    .field("vmId", Schema.string(), ALWAYS, "An id, no slug.")
                    .field("allowedLinuxUsers", USERS, OPTIONAL, "1 to 64; default null: any.");

    static final Schema.ObjectOf UPDATE =
            Schema.object("UpdateVmPermission")
                    .field("allowedLinuxUsers", USERS, ALWAYS, "1 to 64; null: any user.");

    private IdentitySchemas() {}
}
