package coppice.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.background.BackgroundLimits;
import coppice.background.BackgroundRequests;
import coppice.background.Resumption;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.base.Size;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.http.ResponseBody;
import coppice.identity.LinuxUsers;
import coppice.identity.VmGrant;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// A real server whose operations take as long as a test wants, with a store that outlives it, and a client.
final class BackgroundServer implements AutoCloseable {
    static final UUID ADA = UUID.randomUUID();
    static final UUID BOB = UUID.randomUUID();
    static final String AFTER = "x-svc-background-after-secs";
    static final String ID = "x-svc-background-request-id";
    private static final String TOKEN = "x-svc-identity-access-token";
    private static final Size PIECE = new Size(64 << 10);

    private final Path directory;
    private final BackgroundLimits limits;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private Store store;
    private BackgroundRequests requests;
    private HttpServer server;

    /// What the clock shows.
    volatile Instant now = Instant.parse("2026-03-01T09:30:00Z");

    /// As whom each identity of Ada's may act in `vm-a`.
    final Map<UUID, LinuxUsers> identities = new ConcurrentHashMap<>();

    BackgroundServer(Path directory) {
        this(directory, BackgroundLimits.USUAL);
    }

    BackgroundServer(Path directory, BackgroundLimits limits) {
        this.directory = directory;
        this.limits = limits;
        start();
    }

    void start() {
        store = Store.open(directory.resolve("coppice.db"));
        requests =
                BackgroundRequests.open(store, directory.resolve("background"), limits, () -> now);
        var rights =
                VmRights.by(
                        (identity, vm) ->
                                Optional.ofNullable(identities.get(identity.uuid()))
                                        .filter(_ -> vm.equals("vm-a"))
                                        .map(
                                                users ->
                                                        new VmGrant(
                                                                UUID.randomUUID(),
                                                                identity,
                                                                vm,
                                                                users,
                                                                Instant.EPOCH)));
        var routes =
                Stream.concat(
                                routes().stream(),
                                new BackgroundRoutes(requests, rights, "svc").routes().stream())
                        .toList();
        var api =
                new Api(
                        ApiSettings.at(URI.create("https://api.test")),
                        new Known(),
                        routes,
                        new Api.Lasting(Optional.of(requests), Optional.empty()));
        api.resume();
        server = HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, api);
    }

    /// As a server that ends without a word: what was running stays as it is.
    void kill() {
        store.close();
        server.stop(Deadline.in(Duration.ZERO));
    }

    private static final class Known implements Credentials {
        @Override
        public Caller resolve(Secret apiKey) {
            return new Caller(UUID.fromString(apiKey.reveal()));
        }

        @Override
        public Caller identity(Secret accessToken) {
            return new Caller(ADA, Optional.of(UUID.fromString(accessToken.reveal())));
        }
    }

    /// Lets the work of that name end.
    void open(String gate) {
        gates.computeIfAbsent(gate, _ -> new CountDownLatch(1)).countDown();
    }

    private void pass(String gate) {
        try {
            gates.computeIfAbsent(gate, _ -> new CountDownLatch(1)).await();
        } catch (InterruptedException e) {
            throw new Failure(Code.UNAVAILABLE, "interrupted", e);
        }
    }

    private List<Route> routes() {
        return List.of(
                Route.v5(Method.POST, "/jobs/{gate}", "work", this::work)
                        .takes(Schema.object())
                        .returns(Schema.object()),
                Route.v5(Method.POST, "/naps/{nanos}", "nap", BackgroundServer::nap)
                        .returns(Schema.object()),
                Route.legacy(Method.POST, "/v1/jobs/{gate}", "legacyWork", this::work)
                        .returns(Schema.object()),
                Route.v5(Method.PUT, "/upload/{gate}", "upload", this::upload)
                        .takes(new Input.Bytes())
                        .returns(Schema.object()),
                Route.v5(Method.GET, "/download/{gate}", "download", this::download)
                        .query("bytes", Schema.integer(), "")
                        .returns(new Output.Bytes()),
                Route.v5(Method.POST, "/command/{gate}", "command", this::command)
                        .returns(Schema.object())
                        .forIdentities()
                        .resumable(this::resume));
    }

    /// Answers what the body asks for: `{"status":409,"text":"..."}`, or as well as it can.
    private Reply work(Call call) {
        pass(call.path("gate"));
        if (call.path("gate").startsWith("fail")) {
            throw new Failure(Code.UNAVAILABLE, "it is down").retryAfter(Duration.ofSeconds(7));
        }
        return Reply.ok(new JsonWriter().put("done", call.path("gate")));
    }

    private static Reply nap(Call call) {
        LockSupport.parkNanos(Long.parseLong(call.path("nanos")));
        return Reply.ok(new JsonWriter().put("done", call.path("nanos")));
    }

    private Reply upload(Call call) {
        var stream = call.bytes().stream(Size.ofMib(1));
        var piece = new byte[(int) PIECE.bytes()];
        long bytes = 0;
        var deadline = Deadline.in(Duration.ofSeconds(30));
        for (int n = stream.read(piece, 0, piece.length, deadline);
                n > 0;
                n = stream.read(piece, 0, piece.length, deadline)) {
            bytes += n;
        }
        pass(call.path("gate"));
        bytes += stream.read(piece, 0, piece.length, deadline);
        return Reply.ok(new JsonWriter().put("bytes", bytes));
    }

    private Reply download(Call call) {
        pass(call.path("gate"));
        long bytes = call.query().integer("bytes").orElse(0L);
        var gate = call.path("gate");
        return Reply.stream(
                new ResponseBody.Stream(
                        OptionalLong.of(bytes),
                        sink -> {
                            var piece = "x".repeat((int) PIECE.bytes()).getBytes(UTF_8);
                            for (long left = bytes; left > 0; left -= piece.length) {
                                sink.write(piece, 0, (int) Math.min(piece.length, left));
                                switch (gate) {
                                    case "break" -> throw new Failure(Code.UNAVAILABLE, "it broke");
                                    case "fault" -> throw new IllegalStateException("a fault");
                                    default -> {}
                                }
                            }
                        }));
    }

    private Reply command(Call call) {
        var user = call.body().string("user");
        call.resumable(
                new Resumption("vm-a", user, JsonObject.of(Map.of("gate", call.path("gate")))));
        pass(call.path("gate"));
        return Reply.ok(new JsonWriter().put("done", call.path("gate")));
    }

    private Reply resume(UUID account, JsonObject detail) {
        var gate = detail.requiredString("gate");
        pass(gate);
        return Reply.ok(new JsonWriter().put("resumed", gate).put("account", account));
    }

    /// Calls as Ada, to be told to poll after so long.
    HttpResponse<byte[]> deferred(String method, String path, String after) {
        return send(method, path, ADA, Map.of(AFTER, after), new byte[0]);
    }

    HttpResponse<byte[]> send(
            String method, String path, UUID account, Map<String, String> headers, byte[] body) {
        var all = new HashMap<>(headers);
        all.put("Authorization", "Bearer " + account);
        return send(method, path, all, body);
    }

    HttpResponse<byte[]> as(UUID identity, String method, String path, String body) {
        return send(
                method, path, Map.of(TOKEN, identity.toString(), AFTER, "0"), body.getBytes(UTF_8));
    }

    HttpResponse<byte[]> get(String path) {
        return send("GET", path, ADA, Map.of(), new byte[0]);
    }

    private HttpResponse<byte[]> send(
            String method, String path, Map<String, String> headers, byte[] body) {
        var request =
                HttpRequest.newBuilder(URI.create(address() + path))
                        .timeout(Duration.ofSeconds(60))
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        try {
            return client.send(request.build(), BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static JsonObject body(HttpResponse<byte[]> answer) {
        return Json.parse(answer.body());
    }

    static Optional<String> id(HttpResponse<byte[]> answer) {
        return answer.headers().firstValue(ID);
    }

    /// The id of a call that goes on.
    static String accepted(HttpResponse<byte[]> answer) {
        assertEquals(202, answer.statusCode(), new String(answer.body(), UTF_8));
        var body = body(answer);
        assertEquals("running", body.requiredString("status"));
        assertEquals(id(answer), body.string("requestId"));
        assertTrue(body.requiredString("requestId").matches("bg-[a-z0-9]{20}"));
        return body.requiredString("requestId");
    }

    HttpResponse<byte[]> poll(String id) {
        return get("/v5/background-requests/" + id);
    }

    HttpResponse<byte[]> ended(String id) {
        Wait.until(Duration.ofSeconds(30), () -> poll(id).statusCode() != 202, () -> "it goes on");
        return poll(id);
    }

    String address() {
        return "http://127.0.0.1:" + server.port();
    }

    int port() {
        return server.port();
    }

    BackgroundRequests requests() {
        return requests;
    }

    long rows() {
        return store.read(
                handle ->
                        handle.createQuery("select count(*) from background_requests")
                                .mapTo(Long.class)
                                .one());
    }

    long files() {
        return directory.resolve("background").toFile().list().length;
    }

    @Override
    public void close() {
        gates.values().forEach(CountDownLatch::countDown);
        server.close();
        requests.close();
        store.close();
        client.close();
    }
}
