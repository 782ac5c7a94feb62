import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// QEMU's control socket, one question at a time.
final class Qmp implements AutoCloseable {
    private final SocketChannel socket;
    private final InputStream in;

    private Qmp(SocketChannel socket) {
        this.socket = socket;
        this.in = new BufferedInputStream(Channels.newInputStream(socket));
    }

    static Qmp connect(Path path, ProcessHandle qemu) throws Exception {
        var qmp = new Qmp(open(path, qemu));
        qmp.ask("{\"execute\":\"qmp_capabilities\"}");
        return qmp;
    }

    /// Connects to a socket that a starting QEMU is about to make.
    static SocketChannel open(Path path, ProcessHandle qemu) throws Exception {
        while (true) {
            var socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                socket.connect(UnixDomainSocketAddress.of(path));
                return socket;
            } catch (IOException e) {
                socket.close();
                if (!qemu.isAlive()) {
                    throw new IOException("a QEMU of the floor ended before it listened", e);
                }
                Thread.sleep(1);
            }
        }
    }

    /// Sends a question without arguments, or with those of the format.
    JsonObject ask(String json, Object... arguments) throws IOException {
        socket.write(
                ByteBuffer.wrap(
                        (json.formatted(arguments) + "\n").getBytes(StandardCharsets.UTF_8)));
        while (true) {
            var message = Json.parse(readLine());
            if (message.has("return")) {
                return message;
            }
            if (message.has("error")) {
                throw new IOException("QEMU refused %s: %s".formatted(json, message));
            }
        }
    }

    String status() throws IOException {
        return ask("{\"execute\":\"query-status\"}")
                .requiredObject("return")
                .requiredString("status");
    }

    private byte[] readLine() throws IOException {
        var line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new IOException("a QEMU of the floor ended");
            }
            line.write(b);
        }
        return line.toByteArray();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
