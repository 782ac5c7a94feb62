package coppice.api.signin;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of what people sign in by.
final class SignInSchemas {
    static final Schema.ObjectOf BEGIN =
            Schema.object("BeginSignIn")
                    .field(
                            "expires_in_millis",
                            Schema.integer(),
                            OPTIONAL,
                            "How long it may take, in milliseconds; 10 minutes if not sent, at most an hour.");

    static final Schema.ObjectOf BEGUN =
            Schema.object("SignInCodes")
                    .field("polling_code", Schema.string(), ALWAYS, "To poll with; secret.")
                    .field(
                            "login_code",
                            Schema.string(),
                            ALWAYS,
                            "For the page on which somebody confirms it; only for that one.");

    static final Schema.ObjectOf POLL =
            Schema.object("PollSignIn")
                    .field("polling_code", Schema.string(), ALWAYS, "Of the sign-in.");

    static final Schema.ObjectOf POLLED =
            Schema.object("SignInState")
                    .field(
                            "status",
                            Schema.word("pending", "success", "expired"),
                            ALWAYS,
                            "`success` is told once.")
                    .field("refresh_token", Schema.string(), OPTIONAL, "With `success`; secret.")
                    .field("error", Schema.string(), OPTIONAL, "With `expired`, for people.");

    static final Schema.ObjectOf REFRESHED =
            Schema.object("AccessToken")
                    .field(
                            "access_token",
                            Schema.string(),
                            ALWAYS,
                            "A sign-in access token, good for an hour.");

    static final Schema.ObjectOf CONFIRM =
            Schema.object("ConfirmSignIn")
                    .field("email", Schema.string(), ALWAYS, "Of the user.")
                    .field("password", Schema.string(), ALWAYS, "Of the user.");

    private static final Schema.ObjectOf USER =
            Schema.object("User")
                    .field("id", Schema.string(), ALWAYS, "UUID.")
                    .field("email", Schema.string().orNull(), ALWAYS, "")
                    .field("displayName", Schema.string().orNull(), ALWAYS, "");

    private static final Schema.ObjectOf TEAM =
            Schema.object("Team")
                    .field("teamId", Schema.string(), ALWAYS, "For the team header.")
                    .field("accountId", Schema.string().orNull(), ALWAYS, "UUID.")
                    .field("name", Schema.string(), ALWAYS, "")
                    .field("role", Schema.word("owner", "member"), ALWAYS, "");

    static final Schema.ObjectOf TEAMS =
            Schema.object("Teams")
                    .field("user", USER, ALWAYS, "Who is signed in.")
                    .field(
                            "defaultTeamId",
                            Schema.string().orNull(),
                            ALWAYS,
                            "The only team; null when there are several, or none.")
                    .field("teams", Schema.list(TEAM), ALWAYS, "By name.");

    static final Schema.ObjectOf CREATE_KEY =
            Schema.object("CreateApiKey").field("name", Schema.string(), ALWAYS, "What it is for.");

    static final Schema.ObjectOf NEW_KEY =
            Schema.object("NewApiKey")
                    .field("token", Schema.string(), ALWAYS, "The API key, shown only here.")
                    .field("accountId", Schema.string(), ALWAYS, "UUID.")
                    .field("accountName", Schema.string(), ALWAYS, "")
                    .field("teamId", Schema.string(), ALWAYS, "")
                    .field("teamName", Schema.string(), ALWAYS, "");

    private static final Schema.ObjectOf KEY =
            Schema.object("ApiKey")
                    .field("keyId", Schema.string(), ALWAYS, "The key up to its dash.")
                    .field("name", Schema.string(), ALWAYS, "")
                    .field(
                            "createdAt",
                            Schema.integer(),
                            ALWAYS,
                            "Milliseconds since 1970, in UTC.");

    static final Schema.ObjectOf KEYS =
            Schema.object("ApiKeys")
                    .field("tokens", Schema.list(KEY), ALWAYS, "Those not revoked, newest first.");

    private SignInSchemas() {}
}
