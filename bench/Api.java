import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/// A client of the HTTP API with as little of its own to measure as there can be: one connection, one request at a time.
final class Api implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 600_000;

    /// The server closes connections that idle: one that idled this long is not used again.
    private static final Duration FRESH = Duration.ofSeconds(5);

    private final int port;
    private final String key;
    private Socket socket = new Socket();
    private InputStream in = InputStream.nullInputStream();
    private long lastUse;

    Api(int port, String key) {
        this.port = port;
        this.key = key;
    }

    JsonObject get(String path) throws IOException {
        return send("GET", path, "");
    }

    JsonObject post(String path, String json) throws IOException {
        return send("POST", path, json);
    }

    void delete(String path) throws IOException {
        send("DELETE", path, "");
    }

    /// A new VM of a guest image; its id.
    String createVm(String image) throws IOException {
        return post(
                        "/v5/vms",
                        "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}".formatted(image))
                .requiredString("id");
    }

    /// New copies of a VM; their ids.
    List<String> fork(String vm, int count) throws IOException {
        return post("/v5/vms/" + vm + "/fork", "{\"count\":%d}".formatted(count))
                .requiredObjects("vms")
                .stream()
                .map(copy -> copy.requiredString("id"))
                .toList();
    }

    void exec(String vm, String command) throws IOException {
        var result =
                post(
                        "/v5/vms/" + vm + "/exec-await",
                        "{\"command\":\"%s\",\"timeoutMs\":300000}".formatted(command));
        if (result.requiredInteger("statusCode") != 0) {
            throw new IOException("'%s' failed: %s".formatted(command, result));
        }
    }

    private JsonObject send(String method, String path, String body) throws IOException {
        connect();
        var content = body.getBytes(StandardCharsets.UTF_8);
        var head =
                """
                %s %s HTTP/1.1
                Host: localhost
                Authorization: Bearer %s
                Content-Type: application/json
                Content-Length: %d

                """
                        .replace("\n", "\r\n")
                        .formatted(method, path, key, content.length);
        var request = new ByteArrayOutputStream();
        request.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        request.writeBytes(content);
        socket.getOutputStream().write(request.toByteArray());
        var answer = receive(method + " " + path);
        lastUse = System.nanoTime();
        return answer;
    }

    private void connect() throws IOException {
        if (socket.isConnected() && System.nanoTime() - lastUse < FRESH.toNanos()) {
            return;
        }
        socket.close();
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    private JsonObject receive(String request) throws IOException {
        int status = Integer.parseInt(readLine().split(" ")[1]);
        int length = 0;
        for (var line = readLine(); !line.isEmpty(); line = readLine()) {
            var header = line.toLowerCase(Locale.ROOT);
            if (header.startsWith("content-length:")) {
                length = Integer.parseInt(header.substring(header.indexOf(':') + 1).strip());
            } else if (header.startsWith("transfer-encoding:")) {
                throw new IOException(request + ": the answer has no length");
            }
        }
        var body = in.readNBytes(length);
        if (status / 100 != 2) {
            throw new IOException(
                    "%s: %d %s"
                            .formatted(request, status, new String(body, StandardCharsets.UTF_8)));
        }
        return length == 0 ? JsonObject.empty() : Json.parse(body);
    }

    private String readLine() throws IOException {
        var line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new IOException("the server closed the connection");
            }
            if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
