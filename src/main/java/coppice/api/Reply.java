package coppice.api;

import coppice.base.Failure;
import coppice.http.BodyWriter;
import coppice.http.Headers;
import coppice.http.HttpResponse;
import coppice.http.ResponseBody;
import coppice.http.WebSocketHandler;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.OptionalLong;

/// The answer of an operation that succeeded.
public record Reply(int status, Headers headers, ResponseBody body) {
    static final String JSON = "application/json";
    static final String OCTETS = "application/octet-stream";
    static final String LINES = "text/plain";
    static final String HTML = "text/html";

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

    /// Bytes that are written while they are sent, of a type that is not looked into.
    public static Reply stream(ResponseBody.Stream body) {
        return new Reply(200, Headers.of("Content-Type", OCTETS), body);
    }

    /// A part of something; the caller of this adds Content-Range.
    public static Reply part(ResponseBody.Stream body) {
        return new Reply(206, Headers.of("Content-Type", OCTETS), body);
    }

    /// Lines of text without an end in sight.
    public static Reply lines(BodyWriter writer) {
        return new Reply(
                200,
                Headers.of("Content-Type", LINES),
                new ResponseBody.Stream(OptionalLong.empty(), writer));
    }

    /// Of a route that was declared to return an [Output.Upgrade].
    public static Reply upgrade(WebSocketHandler handler) {
        return new Reply(101, Headers.none(), new ResponseBody.Upgrade(handler));
    }

    /// A page for people.
    public static Reply html(String page) {
        return html(200, page);
    }

    /// A page that tells of a failure.
    public static Reply html(Failure why, String page) {
        var reply = html(Errors.status(why.code().kind()), page);
        return why.retryAfter()
                .map(wait -> reply.with("Retry-After", Errors.wholeSeconds(wait)))
                .orElse(reply);
    }

    private static Reply html(int status, String page) {
        return new Reply(
                status,
                Headers.of("Content-Type", HTML + "; charset=utf-8"),
                new ResponseBody.Bytes(page.getBytes(StandardCharsets.UTF_8)));
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
