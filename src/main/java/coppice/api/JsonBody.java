package coppice.api;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.http.HttpRequest;
import coppice.http.RequestBody;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.Schema;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Semaphore;

/// Reads and checks JSON request bodies: first the type, then the length, then the syntax, then the types of fields.
final class JsonBody {
    /// Smaller bodies are not counted: the limit on requests bounds them well enough. Whoever has no credential may send no larger ones.
    static final Size SMALL = new Size(64 << 10);

    private static final int UNIT = 1 << 10;

    private final ApiSettings settings;
    private final Semaphore room;

    JsonBody(ApiSettings settings) {
        this.settings = settings;
        this.room = new Semaphore(units(settings.maxJsonAtOnce()));
    }

    JsonObject read(HttpRequest request, Schema.ObjectOf schema, Size limit) {
        request.headers().first("Content-Type").ifPresent(JsonBody::checkType);
        request.headers().first("Content-Encoding").ifPresent(JsonBody::checkEncoding);
        int units = units(expected(request, limit));
        if (!room.tryAcquire(units)) {
            throw new Failure(
                            Code.UNAVAILABLE,
                            "too many large bodies are being sent at once; try again")
                    .retryAfter(Duration.ofSeconds(1));
        }
        try {
            var bytes = request.body().read(limit, Deadline.in(settings.bodyTime()));
            var body = bytes.length == 0 ? JsonObject.empty() : Json.parse(bytes);
            schema.check(body);
            return body;
        } finally {
            room.release(units);
        }
    }

    /// What the body will take: as announced, or the most that is let in when its length is not known before.
    private static Size expected(HttpRequest request, Size limit) {
        long length = request.body().length().orElse(limit.bytes());
        if (length > limit.bytes()) {
            throw RequestBody.tooLarge(limit);
        }
        return length <= SMALL.bytes() ? new Size(0) : new Size(length);
    }

    private static int units(Size size) {
        return (int) ((size.bytes() + UNIT - 1) / UNIT);
    }

    private static void checkType(String type) {
        var parts = type.toLowerCase(Locale.ROOT).split(";");
        var isJson = parts.length > 0 && parts[0].strip().equals("application/json");
        for (int i = 1; i < parts.length; i++) {
            var parameter = parts[i].replace("\"", "").strip();
            isJson &= !parameter.startsWith("charset=") || parameter.equals("charset=utf-8");
        }
        if (!isJson) {
            throw new Failure(
                    Code.UNSUPPORTED_MEDIA_TYPE,
                    "the body must be JSON in UTF-8; send Content-Type: application/json");
        }
    }

    private static void checkEncoding(String encoding) {
        if (!encoding.isBlank() && !encoding.strip().equalsIgnoreCase("identity")) {
            throw new Failure(
                    Code.UNSUPPORTED_MEDIA_TYPE,
                    "the body must not be compressed; send it without Content-Encoding");
        }
    }
}
