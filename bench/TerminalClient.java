import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// A terminal of the HTTP API by a WebSocket that has as little of its own to measure as there can be: one thread, and whole frames.
final class TerminalClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 60_000;
    private static final int TEXT = 1;
    private static final int BINARY = 2;
    private static final int CLOSE = 8;
    private static final int PING = 9;
    private static final int PONG = 10;
    private static final int LAST = 0x80;
    private static final int MASKED = 0x80;

    private final Socket socket;
    private final DataInputStream in;
    private ByteBuffer output = ByteBuffer.allocate(0);

    private TerminalClient(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    static TerminalClient open(int port, String key, String path) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        var terminal = new TerminalClient(socket);
        var head =
                """
                GET %s HTTP/1.1
                Host: localhost
                Authorization: Bearer %s
                Connection: Upgrade
                Upgrade: websocket
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==

                """
                        .replace("\n", "\r\n")
                        .formatted(path, key);
        socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
        terminal.requireUpgrade();
        return terminal;
    }

    private void requireUpgrade() throws IOException {
        var status = line(in);
        for (var header = line(in); !header.isEmpty(); header = line(in)) {
            // Nothing that it says is needed.
        }
        if (!status.startsWith("HTTP/1.1 101 ")) {
            throw new ProtocolException("the terminal was refused: " + status);
        }
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection");
            }
            line.append((char) b);
        }
        return line.toString().strip();
    }

    void type(int letter) throws IOException {
        send(BINARY, new byte[] {(byte) letter});
    }

    /// The next byte of output.
    int read() throws IOException {
        while (!output.hasRemaining()) {
            receive();
        }
        return output.get();
    }

    void expect(String text) throws IOException {
        for (int wanted : (text + "\n").getBytes(StandardCharsets.US_ASCII)) {
            int found = read();
            if (found != wanted) {
                throw new ProtocolException("the terminal does not say '%s'".formatted(text));
            }
        }
    }

    /// Frames of a client are masked; a mask of zeros leaves the bytes as they are.
    private void send(int kind, byte[] payload) throws IOException {
        var frame = ByteBuffer.allocate(2 + Integer.BYTES + payload.length);
        frame.put((byte) (LAST | kind)).put((byte) (MASKED | payload.length)).putInt(0);
        socket.getOutputStream().write(frame.put(payload).array());
    }

    private void receive() throws IOException {
        int kind = in.readUnsignedByte() & 0xF;
        long length = in.readUnsignedByte();
        length = length < 126 ? length : length == 126 ? in.readUnsignedShort() : in.readLong();
        var payload = in.readNBytes((int) length);
        switch (kind) {
            case BINARY -> output = ByteBuffer.wrap(payload);
            case PING -> send(PONG, payload);
            case TEXT -> requireSession(new String(payload, StandardCharsets.UTF_8));
            case CLOSE -> throw new EOFException("the server closed the terminal");
            default -> throw new ProtocolException("a frame of kind " + kind);
        }
    }

    private static void requireSession(String text) throws IOException {
        if (!text.contains("sessionInfo")) {
            throw new ProtocolException("the terminal says " + text);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
