package coppice.audit;

import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/// One call, one login by SSH, or one command of whoever runs this installation.
///
/// @param request the id that its answer has, or one of the login; absent: it is a command
/// @param account of which; absent: it is of none
/// @param user who is signed in and acts as the account
/// @param credential the id of the API key or access token that it was made with, or of the sign-in
/// @param operation as the OpenAPI document names it, or the words of the command
/// @param path without the query, which may hold a command; of a command what it is about
/// @param status of the answer; 202 of a call that went on in the background. Commands and logins have none, and are not recorded if
///     they fail
public record AuditEntry(
        Instant at,
        Optional<String> request,
        Optional<UUID> account,
        Optional<UUID> identity,
        Optional<UUID> user,
        Optional<String> credential,
        String operation,
        String path,
        OptionalInt status) {
    /// Stands for the credential of whoever runs this installation, which is the machine's root.
    private static final String OPERATOR = "operator";

    /// A command by the operator.
    ///
    /// @param words such as `user create`
    public static AuditEntry ofCommand(
            Instant at, Optional<UUID> account, String words, String about) {
        return new AuditEntry(
                at,
                Optional.empty(),
                account,
                Optional.empty(),
                Optional.empty(),
                Optional.of(OPERATOR),
                words,
                about,
                OptionalInt.empty());
    }

    JsonObject toJson() {
        return new JsonWriter()
                .put("at", at)
                .put("account", account)
                .put("identity", identity)
                .put("user", user)
                .put("credential", credential)
                .put("operation", operation)
                .put("path", path)
                .put("status", status.stream().boxed().findFirst())
                .put("request", request)
                .toObject();
    }
}
