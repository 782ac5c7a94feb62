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

/// Calls routes as HTTP would, without a socket. The key of a caller is its account.
public final class ApiCaller {
    private final Api api;
    private final UUID account;

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
        this(
                new Api(
                        ApiSettings.at(URI.create("https://api.test")),
                        key -> new Caller(UUID.fromString(key.reveal())),
                        routes),
                account);
    }

    private ApiCaller(Api api, UUID account) {
        this.api = api;
        this.account = account;
    }

    /// The same routes, called by another account.
    public ApiCaller as(UUID other) {
        return new ApiCaller(api, other);
    }

    public Answer get(String path) {
        return send("GET", path, "");
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

    private Answer send(String method, String target, String body) {
        int question = target.indexOf('?');
        var response =
                api.handle(
                        new HttpRequest(
                                method,
                                question < 0 ? target : target.substring(0, question),
                                question < 0
                                        ? Optional.empty()
                                        : Optional.of(target.substring(question + 1)),
                                Headers.of("Authorization", "Bearer " + account),
                                RequestBody.of(body.getBytes(UTF_8))));
        return new Answer(
                response.status(),
                response.body() instanceof ResponseBody.Bytes(var bytes)
                        ? new String(bytes, UTF_8)
                        : "");
    }
}
