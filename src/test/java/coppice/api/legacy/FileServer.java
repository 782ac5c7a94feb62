package coppice.api.legacy;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Caller;
import coppice.api.VmRights;
import coppice.base.Failure;
import coppice.guest.GivenGuest;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.http.RawPeer;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.FileActor;
import coppice.vm.GivenVms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/// A real server for the legacy files of a VM of Ada's, and clients of it. What the VM is, [GivenVms] says; its files are those of a
/// [GivenGuest].
final class FileServer implements AutoCloseable {
    final GivenVms given;
    final FakeTree tree;
    private final GivenGuest guest = new GivenGuest();
    private final HttpServer server;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private volatile Optional<Failure> refusal = Optional.empty();

    /// What was answered.
    record Answer(int status, String text) {
        JsonObject body() {
            return Json.parse(text.getBytes(UTF_8));
        }

        JsonObject expect(int wanted) {
            if (status != wanted) {
                throw new AssertionError("%d instead of %d: %s".formatted(status, wanted, text));
            }
            return body();
        }

        /// Fails when this is not that failure, in the shape of the legacy family.
        JsonObject expect(int wanted, String code) {
            var body = expect(wanted);
            if (!body.requiredString("code").equals(code)
                    || !body.requiredString("error").equals(code)
                    || !body.requiredString("description").equals(body.requiredString("message"))) {
                throw new AssertionError("not %s: %s".formatted(code, text));
            }
            return body;
        }
    }

    /// @param beat how often a caller who watches is sent something
    FileServer(Path directory, Duration beat) {
        given = new GivenVms(directory);
        tree = new FakeTree(guest.connect().files());
        var base = URI.create("https://api.test/some/where/");
        var routes =
                new LegacyFileRoutes(given.vms(), this::tree, "acme", VmRights.NONE, beat).routes();
        var api =
                new Api(
                        ApiSettings.at(base),
                        key -> new Caller(UUID.fromString(key.reveal())),
                        routes);
        server = HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, api);
    }

    private GuestTree tree(FileActor who) {
        refusal.ifPresent(
                why -> {
                    throw why;
                });
        return tree.as(who.user());
    }

    /// The VM cannot be woken from now on.
    void refuse(Failure why) {
        refusal = Optional.of(why);
    }

    String workdir() {
        return given.stopped().legacy().workdir();
    }

    /// The address of a path as clients send it: one segment.
    static String encoded(String path) {
        return "/files/" + URLEncoder.encode(path, UTF_8).replace("+", "%20");
    }

    Answer get(String path, String... headers) {
        return send("GET", encoded(path), "", headers);
    }

    Answer put(String path, String content, String... headers) {
        return send("PUT", encoded(path), json(new JsonWriter().put("content", content)), headers);
    }

    static String json(JsonWriter body) {
        return new String(Json.write(body), UTF_8);
    }

    /// @param below the path below that of the VM
    Answer send(String method, String below, String body, String... headers) {
        return sendTo("/v1/vms/stopped" + below, method, body, headers);
    }

    Answer sendTo(String path, String method, String body, String... headers) {
        var request =
                HttpRequest.newBuilder(
                                URI.create(
                                        "http://127.0.0.1:%d/some/where%s"
                                                .formatted(server.port(), path)))
                        .timeout(Duration.ofSeconds(30))
                        .header("Authorization", "Bearer " + given.ada())
                        .method(method, HttpRequest.BodyPublishers.ofString(body));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        try {
            var response = client.send(request.build(), BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A connection on which the watch has begun: the head of its answer was read.
    Watcher watch(String... headers) throws IOException {
        var peer = new RawPeer(server.port());
        var head = new StringBuilder("POST /some/where/v1/vms/stopped/watch-files HTTP/1.1\r\n");
        head.append("Host: x\r\nContent-Length: 0\r\nAuthorization: Bearer ").append(given.ada());
        for (int i = 0; i < headers.length; i += 2) {
            head.append("\r\n").append(headers[i]).append(": ").append(headers[i + 1]);
        }
        var answer = peer.send(head + "\r\n\r\n").answer();
        return new Watcher(peer, answer);
    }

    void stop() {
        server.close();
    }

    @Override
    public void close() {
        client.shutdownNow();
        server.close();
        guest.close();
        given.close();
    }

    /// Somebody who watches, and reads the answer chunk by chunk.
    record Watcher(RawPeer peer, RawPeer.Answer head) implements AutoCloseable {
        /// The next line, which comes in a chunk of its own. The server ends a chunk when it begins the next.
        String line() throws IOException {
            var size = untilLineEnd();
            size = size.isEmpty() ? untilLineEnd() : size;
            return new String(peer.read(Integer.parseInt(size, 16)), UTF_8);
        }

        private String untilLineEnd() throws IOException {
            var text = new StringBuilder();
            while (!text.toString().endsWith("\r\n")) {
                text.append((char) peer.read(1)[0]);
            }
            return text.substring(0, text.length() - 2);
        }

        @Override
        public void close() throws IOException {
            peer.close();
        }
    }
}
