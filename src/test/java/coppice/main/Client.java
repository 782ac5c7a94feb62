package coppice.main;

import coppice.api.v5.TerminalPeer;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// A caller of the API with one key, as a test sees it.
final class Client {
    private static final Duration PATIENCE = Duration.ofSeconds(180);

    private final HttpClient http;
    private final String baseUrl;
    private final String key;
    private final Map<String, String> headers;
    private final Supplier<String> log;

    /// A response: its status and its JSON body, empty when it had none.
    ///
    /// @param log what the server says of itself
    record Answer(
            int status, JsonObject body, HttpResponse<byte[]> response, Supplier<String> log) {

        /// Fails, showing the body, when the status is another one.
        JsonObject expect(int wanted) {
            if (status != wanted) {
                throw new AssertionError(
                        "status %d instead of %d: %s%s"
                                .formatted(
                                        status,
                                        wanted,
                                        new String(response.body(), StandardCharsets.UTF_8),
                                        status >= 500 ? "\n" + log.get() : ""));
            }
            return body;
        }

        /// Fails when this is not that failure, in the shape of its family.
        void expect(int wanted, String code) {
            var found = expect(wanted).string("code").orElse("none");
            if (!found.equals(code)) {
                throw new AssertionError(
                        "code %s instead of %s: %s".formatted(found, code, message()));
            }
            var path = response.uri().getPath();
            boolean isLegacy = path.matches("/([a-z]+/)?v1/.*") && !path.startsWith("/api/");
            var error = isLegacy ? body.string("code") : Optional.empty();
            var description = isLegacy ? body.string("message") : Optional.empty();
            if (!body.string("error").equals(error)
                    || !body.string("description").equals(description)) {
                throw new AssertionError("not the shape of its family: " + body);
            }
        }

        String message() {
            return body.string("message").orElse("");
        }
    }

    /// @param log what the server says of itself, for those who look into a failure of its own
    Client(HttpClient http, String baseUrl, String key, Supplier<String> log) {
        this(http, baseUrl, key, Map.of(), log);
    }

    private Client(
            HttpClient http,
            String baseUrl,
            String key,
            Map<String, String> headers,
            Supplier<String> log) {
        this.http = http;
        this.baseUrl = baseUrl;
        this.key = key;
        this.headers = headers;
        this.log = log;
    }

    /// One that sends this header as well.
    Client with(String header, String value) {
        var more = new HashMap<>(headers);
        more.put(header, value);
        return new Client(http, baseUrl, key, more, log);
    }

    /// One that is the identity whose access token this is.
    Client withToken(String token) {
        return new Client(http, baseUrl, "", Map.of("x-svc-identity-access-token", token), log);
    }

    /// What the server says of itself.
    String log() {
        return log.get();
    }

    Answer get(String path) {
        return send("GET", path, new byte[0]);
    }

    Answer post(String path, String json) {
        return send("POST", path, json.getBytes(StandardCharsets.UTF_8));
    }

    Answer patch(String path, String json) {
        return send("PATCH", path, json.getBytes(StandardCharsets.UTF_8));
    }

    Answer delete(String path) {
        return send("DELETE", path, new byte[0]);
    }

    /// Opens the WebSocket of a terminal: the path below the VM's `pty`.
    TerminalPeer terminal(String vm, String path) {
        var all = new HashMap<>(headers);
        all.put("Authorization", "Bearer " + key);
        return TerminalPeer.open(terminalOf(vm, path), all);
    }

    /// As [#terminal], as the identity whose access token this is.
    TerminalPeer terminal(String vm, String path, String token) {
        return TerminalPeer.open(terminalOf(vm, path), "x-svc-identity-access-token", token);
    }

    /// The status with which such a terminal is refused.
    int refusedTerminal(String vm, String path) {
        return TerminalPeer.refused(terminalOf(vm, path), key);
    }

    private URI terminalOf(String vm, String path) {
        return URI.create("ws" + baseUrl.substring(4) + "/v5/vms/" + vm + "/pty" + path);
    }

    Answer send(String method, String path, byte[] body) {
        return send(method, path, body, Map.of());
    }

    /// @param more headers, for this request only
    Answer send(String method, String path, byte[] body, Map<String, String> more) {
        try {
            var response =
                    send(
                            request(
                                    method,
                                    path,
                                    HttpRequest.BodyPublishers.ofByteArray(body),
                                    more),
                            HttpResponse.BodyHandlers.ofByteArray());
            var isJson =
                    response.body().length > 0
                            && response.headers()
                                    .firstValue("Content-Type")
                                    .filter(type -> type.startsWith("application/json"))
                                    .isPresent();
            return new Answer(
                    response.statusCode(),
                    isJson ? Json.parse(response.body()) : JsonObject.empty(),
                    response,
                    log);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(method + " " + path, e);
        }
    }

    /// Sends a body that is made while it is sent, and returns with the head of the answer, whose body is still to be read.
    HttpResponse<InputStream> stream(
            String method, String path, HttpRequest.BodyPublisher body, Map<String, String> more)
            throws IOException {
        return send(request(method, path, body, more), HttpResponse.BodyHandlers.ofInputStream());
    }

    /// Sends a request and goes away when it has not been answered by then.
    void abandon(String method, String path, byte[] body, Duration patience) {
        var request =
                request(method, path, HttpRequest.BodyPublishers.ofByteArray(body), Map.of())
                        .timeout(patience);
        try {
            send(request, HttpResponse.BodyHandlers.discarding());
        } catch (IOException e) {
            // that is what was wanted
        }
    }

    private HttpRequest.Builder request(
            String method, String path, HttpRequest.BodyPublisher body, Map<String, String> more) {
        var request =
                HttpRequest.newBuilder(URI.create(baseUrl + path))
                        .timeout(PATIENCE)
                        .method(method, body);
        if (!key.isEmpty()) {
            request.header("Authorization", "Bearer " + key);
        }
        headers.forEach(request::header);
        more.forEach(request::header);
        return request;
    }

    private <T> HttpResponse<T> send(
            HttpRequest.Builder request, HttpResponse.BodyHandler<T> handler) throws IOException {
        try {
            return http.send(request.build(), handler);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Announces a body of this length, sends a part of it and no more.
    ///
    /// @return what was answered, as text
    String cutOff(String method, String path, long length, byte[] part) throws IOException {
        var answer = new ByteArrayOutputStream();
        cutOff(method, path, length, part, answer);
        return answer.toString(StandardCharsets.UTF_8);
    }

    /// @param answer takes what is answered, as it comes
    void cutOff(String method, String path, long length, byte[] part, OutputStream answer)
            throws IOException {
        try (var socket = open()) {
            var head =
                    "%s %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
                            .formatted(method, path, key, length);
            socket.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().write(part);
            socket.shutdownOutput();
            socket.getInputStream().transferTo(answer);
        }
    }

    /// A connection on which this path was asked for and nothing of the answer but its first byte is read.
    Socket stalled(String path) throws IOException {
        var socket = open();
        var head =
                "GET %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n\r\n"
                        .formatted(path, key);
        socket.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
        if (socket.getInputStream().read() < 0) {
            throw new IOException("no answer");
        }
        return socket;
    }

    private Socket open() throws IOException {
        var address = URI.create(baseUrl);
        var socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.connect(new InetSocketAddress(address.getHost(), address.getPort()));
        return socket;
    }

    /// Creates a VM without network reach and returns its id.
    String createVm() {
        return createVm("{\"firewall\":{\"rules\":[]}}");
    }

    String createVm(String json) {
        return post("/v5/vms", json).expect(200).requiredString("id");
    }

    void createVmFails(String json, int status) {
        post("/v5/vms", json).expect(status);
    }

    /// Runs a shell command that must succeed and returns what it printed, without the newline at the end.
    String run(String vm, String command) {
        var result = post("/v5/vms/%s/exec-await".formatted(vm), exec(command)).expect(200);
        if (!result.integer("statusCode").equals(Optional.of(0L))) {
            throw new AssertionError(
                    "'%s' ended with %s: %s%s"
                            .formatted(
                                    command,
                                    result.integer("statusCode"),
                                    result.requiredString("stdout"),
                                    result.requiredString("stderr")));
        }
        return result.requiredString("stdout").stripTrailing();
    }

    static String exec(String command) {
        return exec(command, new byte[0]);
    }

    static String exec(String command, byte[] stdin) {
        return new String(
                Json.write(
                        new coppice.json.JsonWriter()
                                .put("command", command)
                                .put("stdin", Base64.getEncoder().encodeToString(stdin))
                                .put("timeoutMs", 120_000)),
                StandardCharsets.UTF_8);
    }

    String state(String vm) {
        return get("/v5/vms/" + vm).expect(200).requiredString("state");
    }
}
