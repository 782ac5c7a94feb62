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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A client of the HTTP API with as little of its own to measure as there can be: one connection, one request at a time.
final class Api implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 600_000;

    /// The server closes connections that idle: one that idled this long is not used again.
    private static final Duration FRESH = Duration.ofSeconds(5);

    private static final int BUFFER = 256 << 10;

    private final int port;
    private final String key;
    private Socket socket = new Socket();
    private InputStream in = InputStream.nullInputStream();
    private long lastUse;

    private record Head(int status, long length) {}

    Api(int port, String key) {
        this.port = port;
        this.key = key;
    }

    /// Another connection of the same caller.
    Api another() {
        return new Api(port, key);
    }

    int port() {
        return port;
    }

    /// A terminal of a VM in which the command runs.
    ///
    /// @param command as it stands in a query
    TerminalClient terminal(String vm, String command) throws IOException {
        var path = "/v5/vms/%s/pty?exec=%s".formatted(vm, command);
        return TerminalClient.open(port, key, path);
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
        return createVm(image, "").requiredString("id");
    }

    /// @param more fields, each with a comma before it
    JsonObject createVm(String image, String more) throws IOException {
        return post(
                "/v5/vms",
                "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}%s}".formatted(image, more));
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
        output(vm, command);
    }

    /// Runs a command and returns what it printed.
    String output(String vm, String command) throws IOException {
        var result =
                post(
                        "/v5/vms/" + vm + "/exec-await",
                        "{\"command\":\"%s\",\"timeoutMs\":300000}".formatted(command));
        if (result.requiredInteger("statusCode") != 0) {
            throw new IOException("'%s' failed: %s".formatted(command, result));
        }
        return result.requiredString("stdout");
    }

    /// Writes a file of a VM in one request, which may have 256 MiB.
    void writeFile(String vm, String path, Content content) throws IOException {
        put("/v5/vms/%s/fs/write?path=%s".formatted(vm, path), content);
    }

    /// Writes a file of a VM in chunks, as clients write large ones.
    void uploadFile(String vm, String path, Content content, long chunk) throws IOException {
        var uploads = "/v5/vms/%s/fs/uploads".formatted(vm);
        var open = "{\"path\":\"%s\",\"size\":%d}".formatted(path, content.length());
        var upload = uploads + "/" + post(uploads, open).requiredString("uploadId");
        for (long offset = 0; offset < content.length(); offset += chunk) {
            long length = Math.min(chunk, content.length() - offset);
            put(upload + "?offset=" + offset, new Content(content.block(), length));
        }
        post(upload + "/commit", "");
    }

    /// Reads a file of a VM and keeps nothing of it.
    ///
    /// @param length that it must have
    void readFile(String vm, String path, long length) throws IOException {
        var request = "/v5/vms/%s/fs/read?path=%s".formatted(vm, path);
        connect();
        socket.getOutputStream().write(head("GET", request, 0));
        var head = receiveHead(request);
        if (head.status() != 200 || head.length() != length) {
            throw new IOException("%s: %s".formatted(request, head));
        }
        var buffer = new byte[BUFFER];
        for (long left = length; left > 0; ) {
            int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (count < 0) {
                throw new IOException("the server closed the connection");
            }
            left -= count;
        }
        lastUse = System.nanoTime();
    }

    private void put(String path, Content content) throws IOException {
        connect();
        socket.getOutputStream().write(head("PUT", path, content.length()));
        content.writeTo(socket.getOutputStream());
        receive("PUT " + path);
        lastUse = System.nanoTime();
    }

    private JsonObject send(String method, String path, String body) throws IOException {
        connect();
        var content = body.getBytes(StandardCharsets.UTF_8);
        var request = new ByteArrayOutputStream();
        request.writeBytes(head(method, path, content.length));
        request.writeBytes(content);
        socket.getOutputStream().write(request.toByteArray());
        var answer = receive(method + " " + path);
        lastUse = System.nanoTime();
        return answer;
    }

    /// What a client of another kind sends to read something, with the key.
    ///
    /// @param headers more of them, each as a line without its end
    byte[] reading(String path, String... headers) {
        var head = "GET %s HTTP/1.1\nHost: localhost\nAuthorization: Bearer %s\n%s\n";
        var more = Stream.of(headers).map(line -> line + "\n").collect(Collectors.joining());
        return head.formatted(path, key, more)
                .replace("\n", "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private byte[] head(String method, String path, long length) {
        var head =
                """
                %s %s HTTP/1.1
                Host: localhost
                Authorization: Bearer %s
                Content-Type: application/json
                Content-Length: %d

                """
                        .replace("\n", "\r\n")
                        .formatted(method, path, key, length);
        return head.getBytes(StandardCharsets.US_ASCII);
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
        var head = receiveHead(request);
        var body = in.readNBytes((int) head.length());
        if (head.status() / 100 != 2) {
            throw new IOException(
                    "%s: %d %s"
                            .formatted(
                                    request,
                                    head.status(),
                                    new String(body, StandardCharsets.UTF_8)));
        }
        return body.length == 0 ? JsonObject.empty() : Json.parse(body);
    }

    private Head receiveHead(String request) throws IOException {
        int status = Integer.parseInt(readLine().split(" ")[1]);
        long length = 0;
        for (var line = readLine(); !line.isEmpty(); line = readLine()) {
            var header = line.toLowerCase(Locale.ROOT);
            if (header.startsWith("content-length:")) {
                length = Long.parseLong(header.substring(header.indexOf(':') + 1).strip());
            } else if (header.startsWith("transfer-encoding:")) {
                throw new IOException(request + ": the answer has no length");
            }
        }
        return new Head(status, length);
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
