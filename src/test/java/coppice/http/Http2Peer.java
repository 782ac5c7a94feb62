package coppice.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/// A client of HTTP/2 in clear text that sends exactly the frames that it is told, RFC 9113, 4.1 and 6.
final class Http2Peer implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int NO_FLAGS = 0;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    static final int INITIAL_WINDOW_SIZE = 4;
    static final int ENHANCE_YOUR_CALM = 11;
    static final byte[] NOTHING = {};

    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    private final Socket socket;
    private final DataInputStream in;

    record Frame(int type, int flags, int stream, byte[] payload) {
        /// Whether it begins a response of status 200, RFC 7541, appendix A.
        boolean isOk() {
            return type == HEADERS && payload[start()] == (byte) 0x88;
        }

        /// After a change of the table's size, which comes before the first field and is all ones when it has more bytes.
        private int start() {
            if ((payload[0] & 0xe0) != 0x20) {
                return 0;
            }
            int at = 1;
            if (payload[0] == 0x3f) {
                while (payload[at++] < 0) {}
            }
            return at;
        }

        boolean isLast() {
            return (type == HEADERS || type == DATA) && (flags & END_STREAM) != 0;
        }

        /// Of RST_STREAM and GOAWAY.
        int error() {
            return ByteBuffer.wrap(payload).getInt(type == GOAWAY ? 4 : 0);
        }
    }

    private Http2Peer(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(Math.toIntExact(Duration.ofSeconds(10).toMillis()));
        in = new DataInputStream(socket.getInputStream());
    }

    /// Says nothing so far.
    static Http2Peer silent(int port) throws IOException {
        return new Http2Peer(port);
    }

    /// Has sent the preface, and settings of which each is a number and a value.
    static Http2Peer connected(int port, int... settings) throws IOException {
        var peer = new Http2Peer(port);
        peer.send(PREFACE.getBytes(ISO_8859_1));
        var payload = ByteBuffer.allocate(settings.length * 3);
        for (int i = 0; i < settings.length; i += 2) {
            payload.putShort((short) settings[i]).putInt(settings[i + 1]);
        }
        return peer.send(SETTINGS, NO_FLAGS, 0, payload.array());
    }

    Http2Peer send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        return this;
    }

    Http2Peer send(int type, int flags, int stream, byte[] payload) throws IOException {
        return send(frame(type, flags, stream, payload));
    }

    static byte[] frame(int type, int flags, int stream, byte[] payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    Http2Peer get(int stream, String path) throws IOException {
        return send(HEADERS, END_HEADERS | END_STREAM, stream, head("GET", path));
    }

    Http2Peer post(int stream, String path) throws IOException {
        return send(HEADERS, END_HEADERS, stream, head("POST", path));
    }

    Http2Peer enlarge(int stream, int bytes) throws IOException {
        return send(WINDOW_UPDATE, NO_FLAGS, stream, number(bytes));
    }

    /// A field block of the pseudo-header fields, RFC 7541, 6: nothing compressed.
    static byte[] head(String method, String path) {
        var block = new ByteArrayOutputStream();
        block.write(method.equals("GET") ? 0x82 : 0x83);
        block.write(0x86);
        block.write(0x04);
        string(block, path);
        block.write(0x01);
        string(block, "x");
        return block.toByteArray();
    }

    /// A field that is not kept for later.
    static byte[] field(String name, String value) {
        var block = new ByteArrayOutputStream();
        block.write(0);
        string(block, name);
        string(block, value);
        return block.toByteArray();
    }

    /// A field that the peer is asked to keep for later.
    static byte[] keptField(String name, String value) {
        var block = field(name, value);
        block[0] = 0x40;
        return block;
    }

    static byte[] number(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    static byte[] join(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (var part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static void string(ByteArrayOutputStream block, String text) {
        int length = text.length();
        block.write(Math.min(length, 127));
        if (length >= 127) {
            for (length -= 127; length >= 128; length >>= 7) {
                block.write(length & 127 | 128);
            }
            block.write(length);
        }
        block.writeBytes(text.getBytes(ISO_8859_1));
    }

    /// The next frame; absent when the server has closed the connection.
    Optional<Frame> next() throws IOException {
        int first = in.read();
        if (first < 0) {
            return Optional.empty();
        }
        var payload = new byte[first << 16 | in.readUnsignedShort()];
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        in.readFully(payload);
        return Optional.of(new Frame(type, flags, stream, payload));
    }

    /// The next frame of this type.
    Frame next(int type) throws IOException {
        while (true) {
            var frame = next().orElseThrow(() -> new IOException("the connection ended"));
            if (frame.type == type) {
                return frame;
            }
        }
    }

    /// Whether the answer to a request is 200 and comes to its end.
    boolean isAnswered(int stream) throws IOException {
        var isOk = false;
        while (true) {
            var frame = next().orElseThrow(() -> new IOException("the connection ended"));
            if (frame.stream == stream) {
                isOk |= frame.isOk();
                if (frame.isLast() || frame.type == RST_STREAM) {
                    return isOk && frame.isLast();
                }
            }
        }
    }

    /// Whether a PING is answered before the connection ends.
    boolean isAlive() {
        try {
            send(PING, NO_FLAGS, 0, new byte[8]).next(PING);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /// Reads on until the server closes or resets the connection, and tells the last GOAWAY.
    Optional<Frame> untilClosed() throws IOException {
        var goAway = Optional.<Frame>empty();
        try {
            for (var frame = next(); frame.isPresent(); frame = next()) {
                goAway = frame.get().type == GOAWAY ? frame : goAway;
            }
        } catch (SocketTimeoutException e) {
            throw new IOException("the server did not close", e);
        } catch (IOException _) {
            // A reset is an end as well.
        }
        return goAway;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
