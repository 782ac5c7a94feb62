package coppice.qemu;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The server side of QMP. It greets and agrees to everything, unless it is told to do something else on a command.
final class FakeQmp implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String GREETING =
            "{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 2, \"minor\": 0, \"major\": 10}}, \"capabilities\": [\"oob\"]}}\r\n";

    private final ServerSocketChannel server;
    private final Map<String, Reply> replies = new ConcurrentHashMap<>();
    private final List<String> commands = new CopyOnWriteArrayList<>();

    /// What it does on a command.
    @FunctionalInterface
    interface Reply {
        void to(JsonNode request, Line line) throws IOException;
    }

    /// The connection, as the server writes to it.
    record Line(SocketChannel socket) {

        void say(String text) throws IOException {
            say((text + "\r\n").getBytes(StandardCharsets.UTF_8));
        }

        void say(byte[] raw) throws IOException {
            var bytes = ByteBuffer.wrap(raw);
            while (bytes.hasRemaining()) {
                socket.write(bytes);
            }
        }

        /// An answer to a request.
        void agree(JsonNode request, String result) throws IOException {
            say(answer(request, result));
        }

        void hangUp() throws IOException {
            socket.close();
        }
    }

    FakeQmp(Path path) throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        Thread.ofVirtual().name("fake-qmp").start(this::serve);
    }

    FakeQmp on(String command, Reply reply) {
        replies.put(command, reply);
        return this;
    }

    /// What it was asked, in order.
    List<String> commands() {
        return commands;
    }

    static String answer(JsonNode request, String result) {
        return "{\"return\": %s, \"id\": %s}".formatted(result, request.path("id"));
    }

    private void serve() {
        try (var socket = server.accept();
                var in = new BufferedReader(Channels.newReader(socket, StandardCharsets.UTF_8))) {
            var line = new Line(socket);
            line.say(GREETING.getBytes(StandardCharsets.UTF_8));
            for (var text = in.readLine(); text != null; text = in.readLine()) {
                var request = JSON.readTree(text);
                var command = request.path("execute").asString("");
                commands.add(command);
                replies.getOrDefault(command, (r, l) -> l.agree(r, "{}")).to(request, line);
            }
        } catch (IOException e) {
            // The other side hung up, or the test is over.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
