package coppice.api;

import static coppice.json.Presence.ALWAYS;

import coppice.background.BackgroundId;
import coppice.http.Headers;
import coppice.http.HttpResponse;
import coppice.json.Json;
import coppice.json.JsonWriter;
import coppice.json.Schema;

/// How background requests look on the wire: contract/background-requests.md.
final class Background {
    static final String ID_HEADER = "x-%s-background-request-id";
    static final String PATH = "/background-requests/";
    static final String LEGACY_PATH = "/auth/v1/background-requests/";

    static final Schema.ObjectOf RUNNING =
            Schema.object("BackgroundRequest")
                    .field("requestId", Schema.string(), ALWAYS, "By which to poll.")
                    .field("status", Schema.word("running"), ALWAYS, "")
                    .field(
                            "resultUrl",
                            Schema.string(),
                            ALWAYS,
                            "Where to poll, relative to the base URL.");

    private final BrandedHeader headers;

    Background(BrandedHeader headers) {
        this.headers = headers;
    }

    /// The answer while it goes on.
    HttpResponse running(BackgroundId id, Family family) {
        var body =
                new JsonWriter()
                        .put("requestId", id.text())
                        .put("status", "running")
                        .put("resultUrl", path(family) + id);
        return named(HttpResponse.of(202, Reply.JSON, Json.write(body)), id);
    }

    private static String path(Family family) {
        return family == Family.LEGACY ? LEGACY_PATH : family.prefix() + PATH;
    }

    /// With the header by which clients tell the answer of a request from the failure of a poll.
    HttpResponse named(HttpResponse answer, BackgroundId id) {
        var named = Headers.none();
        for (var name : headers.names(ID_HEADER)) {
            named = named.and(name, id.text());
        }
        return answer.with(named);
    }
}
