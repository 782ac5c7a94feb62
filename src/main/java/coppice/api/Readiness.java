package coppice.api;

import static coppice.json.Presence.ALWAYS;

import coppice.json.JsonWriter;
import coppice.json.Schema;

/// Tells whether a server can do its work, beside answering at all.
@FunctionalInterface
public interface Readiness {
    /// @throws coppice.base.Failure that says what is missing
    void require();

    /// `/readyz`, which needs no credential: 503 while something is missing.
    default Route route() {
        return Route.open(
                        "/readyz",
                        "readiness",
                        _ -> {
                            require();
                            return Reply.ok(new JsonWriter().put("status", "ready"));
                        })
                .about("Service", "Tell whether the service can do its work")
                .returns(
                        Schema.object("Readiness")
                                .field("status", Schema.word("ready"), ALWAYS, ""));
    }
}
