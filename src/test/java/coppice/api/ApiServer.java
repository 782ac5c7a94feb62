package coppice.api;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.base.Size;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.http.RawPeer;
import coppice.identity.SignedIn;
import coppice.identity.UserId;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A real server on a free port with a few operations that stand for all kinds, and a client for it.
final class ApiServer implements AutoCloseable {
    static final String KEY = "0a1b2c3d4e5f6g7h8i9j-secret";
    static final String SIGN_IN = "sat_signed_in";
    private static final SignedIn WHO = new SignedIn(new UserId(UUID.randomUUID()), "session");
    static final UUID ACCOUNT = UUID.fromString("0b8e6c0a-4f0e-4d7f-8f43-6a1a2c3d4e5f");

    private final HttpServer server;
    private final HttpClient client;
    private final String prefix;

    ApiServer() {
        this(ApiSettings.at(URI.create("https://api.test")));
    }

    ApiServer(ApiSettings settings) {
        this.prefix = settings.pathPrefix();
        this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        this.server =
                HttpServer.start(
                        new InetSocketAddress("127.0.0.1", 0),
                        HttpLimits.DEFAULT,
                        new Api(settings, new Known(), routes()));
    }

    /// One API key, and one who has signed in and is in one team.
    private static final class Known implements Credentials {
        @Override
        public Caller resolve(Secret apiKey) {
            return ApiServer.resolve(apiKey);
        }

        @Override
        public SignedIn signedIn(Secret accessToken) {
            requireStore(accessToken.reveal());
            if (!accessToken.reveal().equals(SIGN_IN)) {
                throw Credentials.notSignedIn();
            }
            return WHO;
        }

        @Override
        public Caller member(SignedIn who, String team) {
            requireStore(team);
            if (!who.equals(WHO) || !team.equals(ACCOUNT.toString())) {
                throw Credentials.notInTeam();
            }
            return Caller.signedIn(ACCOUNT, who);
        }

        private static void requireStore(String asked) {
            if (asked.equals("down")) {
                throw new Failure(Code.UNAVAILABLE, "the store is down");
            }
        }
    }

    static Caller resolve(Secret key) {
        if (key.reveal().equals("down")) {
            throw new Failure(Code.UNAVAILABLE, "the store is down");
        }
        if (!key.reveal().equals(KEY)) {
            throw new Failure(
                    Code.INVALID_API_KEY, "the API key is unknown or revoked; make a new one");
        }
        return new Caller(ACCOUNT);
    }

    static List<Route> routes() {
        return Stream.concat(things().stream(), others().stream()).toList();
    }

    private static List<Route> things() {
        var create =
                Schema.object("CreateThing")
                        .field("name", Schema.string().orNull(), OPTIONAL, "Its name.")
                        .field("count", Schema.integer(0, 10), OPTIONAL, "How many.")
                        .field(
                                "firewall",
                                Schema.object("Firewall")
                                        .field(
                                                "rules",
                                                Schema.list(Schema.object()),
                                                ALWAYS,
                                                "All."),
                                OPTIONAL,
                                "Reach.");
        var thing = Schema.object("Thing").field("id", Schema.string(), ALWAYS, "Stable.");
        return List.of(
                Route.v5(Method.POST, "/things", "createThing", call -> Reply.ok(call.body()))
                        .about("Things", "Make a thing")
                        .takes(create)
                        .returns(thing)
                        .fails(Code.CONFLICT, "the name is taken"),
                Route.v5(Method.GET, "/things", "listThings", ApiServer::list)
                        .paged()
                        .query("state", Schema.word("on", "off"), "Only these.")
                        .query("deep", Schema.bool(), "All of each.")
                        .returns(
                                Schema.object("Things")
                                        .field("things", Schema.list(thing), ALWAYS, "")),
                Route.v5(Method.GET, "/things/{thing}", "getThing", ApiServer::show).returns(thing),
                Route.v5(Method.DELETE, "/things/{thing}", "deleteThing", _ -> Reply.noContent()),
                Route.v5(Method.GET, "/things/all", "getAll", _ -> id("literal")).returns(thing),
                Route.v5(Method.POST, "/things/{thing}/start", "startThing", ApiServer::show)
                        .returns(thing)
                        .fails(Code.VM_START_TIMEOUT, "not ready in time"));
    }

    private static List<Route> others() {
        var thing = Schema.object("Thing").field("id", Schema.string(), ALWAYS, "Stable.");
        return List.of(
                Route.v5(Method.GET, "/snapshots/{snapshot}", "getSnapshot", ApiServer::show)
                        .orTwoSegments("snapshot")
                        .returns(thing),
                Route.v5(Method.POST, "/snapshots/{snapshot}/boot", "bootSnapshot", ApiServer::show)
                        .orTwoSegments("snapshot")
                        .returns(thing),
                Route.v5(Method.POST, "/failures/{code}", "fail", ApiServer::fail),
                Route.v5(Method.GET, "/people", "listPeople", _ -> id("people"))
                        .strangers(Code.MISSING_ACCOUNT_CONTEXT)
                        .returns(thing),
                Route.v5(Method.PUT, "/bytes", "putBytes", ApiServer::bytes)
                        .takes(new Input.Bytes())
                        .returns(thing),
                Route.legacy(Method.GET, "/v1/things/{thing_id}", "oldThing", ApiServer::fail));
    }

    private static Reply show(Call call) {
        var path = Stream.of("thing", "snapshot").filter(name -> has(call, name)).findFirst();
        return id(call.path(path.orElseThrow()));
    }

    private static boolean has(Call call, String name) {
        try {
            call.path(name);
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private static Reply id(String id) {
        return Reply.ok(new JsonWriter().put("id", id));
    }

    private static Reply list(Call call) {
        var all = IntStream.range(0, 1500).boxed().toList();
        return Reply.ok(
                new JsonWriter()
                        .put("things", call.page().of(all))
                        .put("totalCount", all.size())
                        .put("state", call.query().text("state"))
                        .put("deep", call.query().bool("deep")));
    }

    private static Reply bytes(Call call) {
        var bytes = call.bytes().read(new Size(100), Deadline.in(Duration.ofSeconds(5)));
        return id(new String(bytes, UTF_8));
    }

    private static Reply fail(Call call) {
        throw switch (has(call, "code") ? call.path("code") : "legacy") {
            case "legacy" -> new Failure(Code.NOT_FOUND, "no such thing", Map.of("vmId", "x"));
            case "details" ->
                    new Failure(
                            Code.VM_LIMIT_EXCEEDED, "too many", Map.of("limit", 2, "current", 2));
            case "busy" ->
                    new Failure(Code.RATE_LIMITED, "slow down").retryAfter(Duration.ofMillis(1200));
            case "crash" -> new IllegalStateException("a password is hunter2");
            case "error" -> endless();
            case String code -> new Failure(Code.valueOf(code), "it failed");
        };
    }

    private static RuntimeException endless() {
        return endless();
    }

    int port() {
        return server.port();
    }

    /// With the right key.
    Answer send(String method, String path, String body) {
        return send(method, path, body, "Authorization", "Bearer " + KEY);
    }

    Answer get(String path) {
        return send("GET", path, "");
    }

    Answer send(String method, String path, String body, String... headers) {
        var request =
                HttpRequest.newBuilder(
                                URI.create(
                                        "http://127.0.0.1:%d%s%s".formatted(port(), prefix, path)))
                        .timeout(Duration.ofSeconds(20))
                        .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return new Answer(client.send(request.build(), BodyHandlers.ofByteArray()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A path that a proper client would not send.
    RawPeer.Answer raw(String path) throws IOException {
        try (var peer = new RawPeer(port())) {
            return peer.send(
                            "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
                                    .formatted(path, KEY))
                    .answer();
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }

    record Answer(HttpResponse<byte[]> response) {
        int status() {
            return response.statusCode();
        }

        JsonObject json() {
            return Json.parse(response.body());
        }

        String text() {
            return new String(response.body(), UTF_8);
        }

        String code() {
            return json().requiredString("code");
        }

        String message() {
            return json().requiredString("message");
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }
}
