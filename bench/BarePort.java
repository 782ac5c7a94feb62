import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/// A second port of a machine of the floor, of the kind that the agent has: a UNIX socket here, a device there, and a program of a few
/// lines of shell at its other end. Added while the machine runs: a captured one has the ports that it was captured with.
final class BarePort implements AutoCloseable {
    private static final String NAME = "bench.0";
    private static final int BUFFER = 256 << 10;

    /// Only one at a time may have the device open, so the program inherits it.
    private static final String START =
            """
            until [ -c "$port" ]; do
              for i in /sys/class/virtio-ports/*; do
                if [ "$(cat $i/name)" = %s ]; then port=/dev/${i##*/}; fi
              done
            done
            setsid sh -c '%s' <>$port >&0 2>/dev/null &
            """;

    private final SocketChannel socket;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER).limit(0);

    private BarePort(SocketChannel socket) {
        this.socket = socket;
    }

    /// @param program of a shell, without `'`; the port is its standard input and output
    static BarePort open(Floor floor, String program) throws Exception {
        var path = floor.files().run().resolve("bare");
        Files.deleteIfExists(path);
        floor.qmp()
                .ask(
                        """
                        {"execute":"chardev-add","arguments":{"id":"bare","backend":{"type":"socket","data":\
                        {"addr":{"type":"unix","data":{"path":"%s"}},"server":true,"wait":false}}}}""",
                        path);
        floor.qmp()
                .ask(
                        """
                        {"execute":"device_add","arguments":{"driver":"virtserialport","bus":"serial.0",\
                        "chardev":"bare","name":"%s","id":"bare"}}""",
                        NAME);
        var port = new BarePort(Qmp.open(path, ProcessHandle.of(floor.pid()).orElseThrow()));
        // A program that finds nobody here reads an end: it says when it is there.
        floor.exec(START.formatted(NAME, "echo ready; " + program));
        port.expect("ready");
        return port;
    }

    void say(String line) throws IOException {
        write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII)));
    }

    void type(int letter) throws IOException {
        write(ByteBuffer.wrap(new byte[] {(byte) letter}));
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    int read() throws IOException {
        fill();
        return in.get();
    }

    /// Reads bytes and keeps nothing of them.
    void skip(long count) throws IOException {
        for (long left = count; left > 0; ) {
            fill();
            int part = (int) Math.min(in.remaining(), left);
            in.position(in.position() + part);
            left -= part;
        }
    }

    private void fill() throws IOException {
        if (!in.hasRemaining()) {
            in.clear();
            int count = socket.read(in);
            in.flip();
            if (count < 0) {
                throw new IOException("a QEMU of the floor ended");
            }
        }
    }

    String readLine() throws IOException {
        var line = new StringBuilder();
        for (int b = read(); b != '\n'; b = read()) {
            line.append((char) b);
        }
        return line.toString();
    }

    void expect(String line) throws IOException {
        var found = readLine();
        if (!found.equals(line)) {
            throw new ProtocolException(
                    "the floor's guest said '%s', not '%s'".formatted(found, line));
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
