package coppice.audit;

import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/// One call.
///
/// @param request the id that its answer has
/// @param credential the id of the API key or access token that it was made with
/// @param operation as the OpenAPI document names it
/// @param path without the query, which may hold a command
/// @param status of the answer; 202 of a call that went on in the background
public record AuditEntry(
        Instant at,
        String request,
        UUID account,
        Optional<UUID> identity,
        Optional<String> credential,
        String operation,
        String path,
        int status) {

    JsonObject toJson() {
        return new JsonWriter()
                .put("at", at)
                .put("account", account)
                .put("identity", identity)
                .put("credential", credential)
                .put("operation", operation)
                .put("path", path)
                .put("status", status)
                .put("request", request)
                .toObject();
    }
}
