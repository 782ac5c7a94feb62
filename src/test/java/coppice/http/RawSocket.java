package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/// A WebSocket client made of bytes, for frames that no proper client would send.
public final class RawSocket implements AutoCloseable {
    public static final int CONTINUATION = 0;
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;
    public static final int FIN = 0x80;

    public static final String ASK =
            "Host: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    private static final byte[] MASK = {1, 2, 3, 4};

    private final RawPeer peer;

    public record Frame(boolean isLast, int kind, byte[] bytes) {
        public String text() {
            return new String(bytes, UTF_8);
        }

        /// Of a close frame; 1005 when it has none.
        public int code() {
            return bytes.length < 2 ? 1005 : ByteBuffer.wrap(bytes).getShort() & 0xffff;
        }
    }

    private RawSocket(RawPeer peer) {
        this.peer = peer;
    }

    public static RawSocket open(int port, String path) throws IOException {
        var peer = new RawPeer(port);
        peer.send("GET " + path + " HTTP/1.1\r\n" + ASK + "\r\n");
        var answer = peer.answer();
        if (answer.status() != 101
                || !answer.head().contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                || answer.head().contains("Sec-WebSocket-Extensions")) {
            peer.close();
            throw new IOException("not opened: " + answer);
        }
        return new RawSocket(peer);
    }

    /// Over a connection whose handshake is done.
    public static RawSocket over(RawPeer peer) {
        return new RawSocket(peer);
    }

    public RawPeer peer() {
        return peer;
    }

    /// `first` is the kind of frame, with or without [#FIN].
    public RawSocket send(int first, byte[] payload) throws IOException {
        var masked = payload.clone();
        for (int i = 0; i < masked.length; i++) {
            masked[i] ^= MASK[i % 4];
        }
        var frame = new ByteArrayOutputStream();
        frame.writeBytes(head(first, payload.length, true));
        frame.writeBytes(masked);
        return send(frame.toByteArray());
    }

    public RawSocket send(byte[] raw) throws IOException {
        peer.send(raw, 0, raw.length);
        return this;
    }

    public static byte[] head(int first, long length, boolean isMasked) {
        var head = ByteBuffer.allocate(14);
        int mask = isMasked ? 0x80 : 0;
        head.put((byte) first);
        if (length < 126) {
            head.put((byte) (mask | length));
        } else if (length < 65536) {
            head.put((byte) (mask | 126)).putShort((short) length);
        } else {
            head.put((byte) (mask | 127)).putLong(length);
        }
        if (isMasked) {
            head.put(MASK);
        }
        var bytes = new byte[head.flip().remaining()];
        head.get(bytes);
        return bytes;
    }

    public Frame receive() throws IOException {
        int first = peer.read(1)[0] & 0xff;
        int length = peer.read(1)[0] & 0xff;
        if (length == 126) {
            length = ByteBuffer.wrap(peer.read(2)).getShort() & 0xffff;
        } else if (length == 127) {
            length = Math.toIntExact(ByteBuffer.wrap(peer.read(8)).getLong());
        }
        return new Frame((first & FIN) != 0, first & 15, peer.read(length));
    }

    /// The next message, whole; pings are passed over.
    public Frame message() throws IOException {
        var whole = new ByteArrayOutputStream();
        int kind = CONTINUATION;
        while (true) {
            var frame = receive();
            if (frame.kind == CLOSE) {
                return frame;
            }
            if (frame.kind == PING || frame.kind == PONG) {
                continue;
            }
            kind = frame.kind == CONTINUATION ? kind : frame.kind;
            whole.writeBytes(frame.bytes);
            if (frame.isLast) {
                return new Frame(true, kind, whole.toByteArray());
            }
        }
    }

    @Override
    public void close() throws IOException {
        peer.close();
    }
}
