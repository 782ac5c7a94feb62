package coppice.api.v5;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.http.RawSocket;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/// A client of a terminal's WebSocket. Frames are taken one by one: text is told as it is, what is binary as bytes. It is not the JDK's,
/// which loses bytes that come right behind the answer to its handshake: the 32 KiB after the first 16, where a terminal has much to show.
public final class TerminalPeer {
    private static final int PATIENCE_MS = 30_000;
    private static final int CUT = 1006;

    private final Socket socket;
    private final DataInputStream in;
    private int closedWith;

    /// An opening handshake that was refused.
    public static final class Refused extends CompletionException {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refused(int status) {
            super("the handshake was answered " + status);
            this.status = status;
        }

        public int status() {
            return status;
        }
    }

    private TerminalPeer(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /// @throws Refused if it is answered anything but 101
    /// @throws CompletionException if it is not answered
    public static TerminalPeer open(URI address, String bearer) {
        var socket = new Socket();
        try {
            socket.setSoTimeout(PATIENCE_MS);
            socket.connect(new InetSocketAddress(address.getHost(), address.getPort()));
            var peer = new TerminalPeer(socket);
            peer.shakeHands(address, bearer);
            return peer;
        } catch (IOException | Refused e) {
            closeQuietly(socket);
            throw e instanceof Refused refused ? refused : new CompletionException(e);
        }
    }

    private void shakeHands(URI address, String bearer) throws IOException {
        var path = address.getRawPath();
        var query = address.getRawQuery() == null ? "" : "?" + address.getRawQuery();
        var head =
                "GET %s%s HTTP/1.1\r\nAuthorization: Bearer %s\r\n%s\r\n"
                        .formatted(path, query, bearer, RawSocket.ASK);
        socket.getOutputStream().write(head.getBytes(ISO_8859_1));
        var first = line();
        if (!first.startsWith("HTTP/1.1 ")) {
            throw new IOException("no answer: " + first);
        }
        int status = Integer.parseInt(first.substring(9, 12));
        if (status != 101) {
            throw new Refused(status);
        }
        while (!line().isEmpty()) {
            // the other header fields say nothing that a terminal's client must know
        }
    }

    private String line() throws IOException {
        var line = new StringBuilder();
        while (line.length() < 2 || line.charAt(line.length() - 1) != '\n') {
            line.append((char) in.readUnsignedByte());
        }
        return line.substring(0, line.length() - 2);
    }

    /// The status of an opening handshake that is refused.
    public static int refused(URI address, String bearer) {
        try {
            open(address, bearer).cut();
            return 101;
        } catch (Refused refusal) {
            return refusal.status();
        }
    }

    /// What comes next: `String`, `byte[]`, or the `Integer` that it was closed with.
    private Object next() {
        var whole = new ByteArrayOutputStream();
        boolean isText = false;
        try {
            while (true) {
                int first = in.readUnsignedByte();
                var payload = in.readNBytes(length(in.readUnsignedByte()));
                switch (first & 15) {
                    case RawSocket.PING -> send(RawSocket.PONG, payload);
                    case RawSocket.PONG -> {}
                    case RawSocket.CLOSE -> {
                        int code = payload.length < 2 ? 1005 : ByteBuffer.wrap(payload).getShort();
                        sayGoodbye(payload);
                        return code;
                    }
                    default -> {
                        isText |= (first & 15) == RawSocket.TEXT;
                        whole.writeBytes(payload);
                        if ((first & RawSocket.FIN) != 0) {
                            return isText ? whole.toString(UTF_8) : whole.toByteArray();
                        }
                    }
                }
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("nothing came", e);
        } catch (IOException e) {
            return CUT;
        }
    }

    private int length(int first) throws IOException {
        return switch (first) {
            case 126 -> in.readUnsignedShort();
            case 127 -> Math.toIntExact(in.readLong());
            default -> first;
        };
    }

    /// It is answered as it came; whether the other end still listens is its affair.
    private void sayGoodbye(byte[] payload) {
        try {
            send(RawSocket.CLOSE, payload);
        } catch (IOException _) {
            // it is gone
        }
    }

    /// With a mask of zeros, which changes nothing.
    private void send(int kind, byte[] payload) throws IOException {
        var head = RawSocket.head(RawSocket.FIN | kind, payload.length, true);
        Arrays.fill(head, head.length - 4, head.length, (byte) 0);
        var frame = ByteBuffer.allocate(head.length + payload.length).put(head).put(payload);
        socket.getOutputStream().write(frame.array());
    }

    private void say(int kind, byte[] payload) {
        try {
            send(kind, payload);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The next frame, which must be text.
    public JsonObject text() {
        return switch (next()) {
            case String frame -> Json.parse(frame.getBytes(UTF_8));
            case byte[] frame ->
                    throw new AssertionError("not text: " + new String(frame, ISO_8859_1));
            case Object end -> throw new AssertionError("closed with " + end);
        };
    }

    /// The next text, whatever output comes before it.
    public JsonObject textAfterOutput() {
        while (true) {
            switch (next()) {
                case String frame -> {
                    return Json.parse(frame.getBytes(UTF_8));
                }
                case byte[] _ -> {}
                case Object end -> throw new AssertionError("closed with " + end);
            }
        }
    }

    /// Some output, at least a byte.
    public byte[] some() {
        return switch (next()) {
            case byte[] frame -> frame;
            case Object other -> throw new AssertionError("instead of bytes: " + other);
        };
    }

    /// The next output; empty when it is closed instead, for which there is [#closedWith].
    public Optional<byte[]> someUnlessClosed() {
        return switch (next()) {
            case byte[] frame -> Optional.of(frame);
            case Integer code -> {
                closedWith = code;
                yield Optional.empty();
            }
            case Object other -> throw new AssertionError("instead of bytes: " + other);
        };
    }

    public int closedWith() {
        return closedWith;
    }

    /// The next so many bytes of output, with no text between them.
    public byte[] bytes(int count) {
        var all = new ByteArrayOutputStream();
        while (all.size() < count) {
            switch (next()) {
                case byte[] frame -> all.writeBytes(frame);
                case Object other -> throw new AssertionError("instead of bytes: " + other);
            }
        }
        if (all.size() > count) {
            throw new AssertionError("%d bytes instead of %d".formatted(all.size(), count));
        }
        return all.toByteArray();
    }

    public String output(int count) {
        return new String(bytes(count), ISO_8859_1);
    }

    /// Output until it holds this, with no text between.
    public String outputUntil(String wanted) {
        var all = new StringBuilder();
        while (!all.toString().contains(wanted)) {
            switch (next()) {
                case byte[] frame -> all.append(new String(frame, ISO_8859_1));
                case Object other ->
                        throw new AssertionError(
                                "%s instead of %s after %s".formatted(other, wanted, all));
            }
        }
        return all.toString();
    }

    /// Output until its end is this, with no text between.
    public byte[] bytesUntil(byte[] end) {
        var all = new ByteArrayOutputStream();
        while (!endsWith(all, end)) {
            switch (next()) {
                case byte[] frame -> all.writeBytes(frame);
                case Object other ->
                        throw new AssertionError("%s after %d bytes".formatted(other, all.size()));
            }
        }
        return all.toByteArray();
    }

    private static boolean endsWith(ByteArrayOutputStream all, byte[] end) {
        var bytes = all.toByteArray();
        int from = bytes.length - end.length;
        return from >= 0 && Arrays.equals(bytes, from, bytes.length, end, 0, end.length);
    }

    /// The code it is closed with; frames before that are dropped.
    public int closed() {
        while (true) {
            if (next() instanceof Integer code) {
                return code;
            }
        }
    }

    /// The code it is closed with, as the next that comes.
    public int closedNext() {
        return switch (next()) {
            case Integer code -> code;
            case Object other -> throw new AssertionError("not closed: " + other);
        };
    }

    public void type(String input) {
        type(input.getBytes(UTF_8));
    }

    public void type(byte[] input) {
        say(RawSocket.BINARY, input);
    }

    public void say(String frame) {
        say(RawSocket.TEXT, frame.getBytes(UTF_8));
    }

    public void close() {
        say(RawSocket.CLOSE, new byte[] {0x03, (byte) 0xe8});
    }

    /// Goes away without a word.
    public void cut() {
        closeQuietly(socket);
    }
}
