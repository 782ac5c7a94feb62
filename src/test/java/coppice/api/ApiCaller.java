package coppice.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.RequestBody;
import coppice.http.ResponseBody;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// Calls routes as HTTP would, without a socket. The key of a caller is its account, where nothing else is said.
public final class ApiCaller {
    private final Api api;
    private final Headers credential;

    /// What was answered.
    public record Answer(int status, String text) {
        public JsonObject body() {
            return text.isEmpty() ? JsonObject.empty() : Json.parse(text.getBytes(UTF_8));
        }

        /// Fails, showing the body, when the status is another one.
        public JsonObject expect(int wanted) {
            if (status != wanted) {
                throw new AssertionError("%d instead of %d: %s".formatted(status, wanted, text));
            }
            return body();
        }

        /// Fails when this is not that failure.
        public JsonObject expect(int wanted, String code) {
            var body = expect(wanted);
            if (!body.requiredString("code").equals(code)) {
                throw new AssertionError("not %s: %s".formatted(code, text));
            }
            return body;
        }
    }

    public ApiCaller(List<Route> routes, UUID account) {
        this(routes, key -> new Caller(UUID.fromString(key.reveal())), account);
    }

    public ApiCaller(List<Route> routes, Credentials credentials, UUID account) {
        this(
                new Api(ApiSettings.at(URI.create("https://api.test")), credentials, routes),
                key(account));
    }

    private ApiCaller(Api api, Headers credential) {
        this.api = api;
        this.credential = credential;
    }

    private static Headers key(UUID account) {
        return Headers.of("Authorization", "Bearer " + account);
    }

    /// The same routes, called by another account.
    public ApiCaller as(UUID other) {
        return new ApiCaller(api, key(other));
    }

    /// The same routes, called with the access token of an identity.
    public ApiCaller withToken(String token) {
        return new ApiCaller(api, Headers.of("x-svc-identity-access-token", token));
    }

    /// The same caller, who sends this header as well.
    public ApiCaller with(String header, String value) {
        return new ApiCaller(api, credential.and(header, value));
    }

    /// The same routes, called by nobody.
    public ApiCaller withoutCredential() {
        return new ApiCaller(api, Headers.none());
    }

    public Answer get(String path) {
        return send("GET", path, "");
    }

    /// As a client that wants to open a WebSocket there.
    public Answer upgrade(String path) {
        var handshake =
                Headers.of("Connection", "Upgrade")
                        .and("Upgrade", "websocket")
                        .and("Sec-WebSocket-Version", "13")
                        .and("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        return send("GET", path, handshake, RequestBody.of(new byte[0]));
    }

    public Answer put(String path, RequestBody body) {
        return send("PUT", path, Headers.none(), body);
    }

    public Answer put(String path, byte... body) {
        return put(path, RequestBody.of(body));
    }

    public Answer post(String path, String body) {
        return send("POST", path, body);
    }

    public Answer patch(String path, String body) {
        return send("PATCH", path, body);
    }

    public Answer delete(String path) {
        return send("DELETE", path, "");
    }

    public Answer send(String method, String path, String body) {
        return send(method, path, Headers.none(), RequestBody.of(body.getBytes(UTF_8)));
    }

    private Answer send(String method, String target, Headers headers, RequestBody body) {
        int question = target.indexOf('?');
        var response =
                api.handle(
                        new HttpRequest(
                                method,
                                question < 0 ? target : target.substring(0, question),
                                question < 0
                                        ? Optional.empty()
                                        : Optional.of(target.substring(question + 1)),
                                headers.and(credential),
                                body));
        var answer =
                new Answer(
                        response.status(),
                        response.body() instanceof ResponseBody.Bytes(var bytes)
                                ? new String(bytes, UTF_8)
                                : "");
        requireShape(target, answer);
        return answer;
    }

    /// A failure is told in the shape of its family, whatever it is.
    private static void requireShape(String target, Answer answer) {
        if (answer.status() < 400) {
            return;
        }
        var body = answer.body();
        boolean isLegacy = target.matches("/([a-z]+/)?v1/.*");
        var error = isLegacy ? body.string("code") : Optional.empty();
        var description = isLegacy ? body.string("message") : Optional.empty();
        if (body.string("code").isEmpty()
                || body.string("message").isEmpty()
                || !body.string("error").equals(error)
                || !body.string("description").equals(description)) {
            throw new AssertionError("not the shape of a failure: " + answer.text());
        }
    }
}
