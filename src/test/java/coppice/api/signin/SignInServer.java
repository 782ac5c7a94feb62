package coppice.api.signin;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Caller;
import coppice.audit.AuditEntry;
import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.RequestBody;
import coppice.http.ResponseBody;
import coppice.identity.GivenSignIns;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/// The routes of signing in as a server has them, without a socket, and what is recorded of their calls.
final class SignInServer implements AutoCloseable {
    static final String PAGE = "/handler/cli-auth-confirm?login_code=";
    static final String ADDRESS = "203.0.113.7";

    /// A proxy that is believed.
    static final String PROXY = "192.0.2.1";

    private static final Sources SOURCES = new Sources(Set.of(InetAddress.ofLiteral(PROXY)));

    final GivenSignIns given;
    final List<AuditEntry> audit = Collections.synchronizedList(new ArrayList<>());
    private final Api api;

    record Answer(HttpResponse response) {
        int status() {
            return response.status();
        }

        String text() {
            return response.body() instanceof ResponseBody.Bytes(var bytes)
                    ? new String(bytes, UTF_8)
                    : "";
        }

        String header(String name) {
            return response.headers().first(name).orElse("");
        }

        /// Fails, showing the body, when the status is another one.
        JsonObject expect(int wanted) {
            if (status() != wanted) {
                throw new AssertionError(
                        "%d instead of %d: %s".formatted(status(), wanted, text()));
            }
            return text().isEmpty() ? JsonObject.empty() : Json.parse(text().getBytes(UTF_8));
        }

        /// Fails when this is not that failure.
        void expect(int wanted, String code) {
            if (!expect(wanted).requiredString("code").equals(code)) {
                throw new AssertionError("not %s: %s".formatted(code, text()));
            }
        }
    }

    SignInServer(Path directory) {
        given = new GivenSignIns(directory);
        var routes =
                Stream.of(
                                new SignInRoutes(given.signIns(), given.sessions(), SOURCES)
                                        .routes(),
                                new ConfirmPage(given.signIns(), given.check(), SOURCES).routes(),
                                new TeamRoutes(
                                                given.users(),
                                                given.teams(),
                                                given.keys(),
                                                given.sessions())
                                        .routes())
                        .flatMap(List::stream)
                        .toList();
        api =
                new Api(
                        ApiSettings.at(URI.create("https://api.test")),
                        _ -> new Caller(UUID.randomUUID()),
                        routes,
                        new Api.Lasting(Optional.empty(), Optional.empty(), audit::add, _ -> {}));
    }

    /// Begins a sign-in.
    JsonObject begin() {
        return post("/api/v1/auth/cli", "{}").expect(200);
    }

    JsonObject poll(JsonObject codes) {
        var body = new JsonWriter().put("polling_code", codes.requiredString("polling_code"));
        return post("/api/v1/auth/cli/poll", new String(Json.write(body), UTF_8)).expect(200);
    }

    Answer post(String path, String json) {
        return send("POST", path, Headers.of("Content-Type", "application/json"), json);
    }

    /// Sends the form of the page, as a browser does.
    Answer confirm(String login, String email, String password) {
        var form =
                "email=%s&password=%s"
                        .formatted(
                                URLEncoder.encode(email, UTF_8),
                                URLEncoder.encode(password, UTF_8));
        var headers = Headers.of("Content-Type", "application/x-www-form-urlencoded");
        return send("POST", PAGE + login, headers, form);
    }

    Answer get(String path) {
        return send("GET", path, Headers.none(), "");
    }

    Answer send(String method, String target, Headers headers, String body) {
        return send(method, target, headers, body.getBytes(UTF_8), ADDRESS);
    }

    Answer send(String method, String target, Headers headers, byte[] body, String address) {
        var parts = target.split("\\?", 2);
        return new Answer(
                api.handle(
                        new HttpRequest(
                                method,
                                parts[0],
                                parts.length == 1 ? Optional.empty() : Optional.of(parts[1]),
                                headers,
                                RequestBody.of(body),
                                Optional.of(InetAddress.ofLiteral(address)))));
    }

    @Override
    public void close() {
        given.close();
    }
}
