package coppice.api;

import coppice.http.Headers;
import coppice.http.HttpResponse;
import coppice.http.ResponseBody;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.util.Collection;

/// The answer of an operation that succeeded.
public record Reply(int status, Headers headers, ResponseBody body) {
    static final String JSON = "application/json";

    public static Reply ok(JsonWriter body) {
        return json(Json.write(body));
    }

    public static Reply ok(JsonObject body) {
        return json(Json.write(body));
    }

    /// A bare array.
    public static Reply ok(Collection<JsonWriter> items) {
        return json(Json.writeValue(items));
    }

    public static Reply noContent() {
        return new Reply(204, Headers.none(), new ResponseBody.None());
    }

    public static Reply bytes(String contentType, byte[] bytes) {
        return new Reply(
                200, Headers.of("Content-Type", contentType), new ResponseBody.Bytes(bytes));
    }

    public Reply with(String header, String value) {
        return new Reply(status, headers.and(header, value), body);
    }

    HttpResponse response() {
        return new HttpResponse(status, headers, body);
    }

    private static Reply json(byte[] bytes) {
        return bytes(JSON, bytes);
    }
}
