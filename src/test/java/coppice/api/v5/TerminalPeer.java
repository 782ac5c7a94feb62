package coppice.api.v5;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.http.RawPeer;
import coppice.http.RawSocket;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

/// A client of a terminal's WebSocket. Frames are taken one by one: text is told as it is, what is binary as bytes. It is not the JDK's,
/// which loses bytes that come right behind the answer to its handshake: the 32 KiB after the first 16, where a terminal has much to show.
public final class TerminalPeer {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CUT = 1006;

    private final RawSocket socket;
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

    private TerminalPeer(RawSocket socket) {
        this.socket = socket;
    }

    /// @throws Refused if it is answered anything but 101
    /// @throws CompletionException if it is not answered
    public static TerminalPeer open(URI address, String bearer) {
        return open(address, "Authorization", "Bearer " + bearer);
    }

    /// By another credential, in a header of its own.
    public static TerminalPeer open(URI address, String header, String credential) {
        return open(address, Map.of(header, credential));
    }

    /// By a credential that takes several headers.
    public static TerminalPeer open(URI address, Map<String, String> credential) {
        try {
            var peer =
                    new RawPeer(
                            new InetSocketAddress(address.getHost(), address.getPort()), PATIENCE);
            try {
                shakeHands(
                        peer,
                        address,
                        credential.entrySet().stream()
                                .map(header -> header.getKey() + ": " + header.getValue())
                                .collect(Collectors.joining("\r\n")));
                return new TerminalPeer(RawSocket.over(peer));
            } catch (IOException | Refused e) {
                peer.close();
                throw e;
            }
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static void shakeHands(RawPeer peer, URI address, String credential)
            throws IOException {
        var query = address.getRawQuery() == null ? "" : "?" + address.getRawQuery();
        var answer =
                peer.send(
                                "GET %s%s HTTP/1.1\r\n%s\r\n%s\r\n"
                                        .formatted(
                                                address.getRawPath(),
                                                query,
                                                credential,
                                                RawSocket.ASK))
                        .answer();
        if (answer.status() != 101) {
            throw new Refused(answer.status());
        }
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
        long begun = System.nanoTime();
        try {
            while (true) {
                var frame = socket.receive();
                switch (frame.kind()) {
                    case RawSocket.PING -> {
                        requireAnswer(begun); // a server that only pings says nothing
                        socket.send(RawSocket.FIN | RawSocket.PONG, frame.bytes());
                    }
                    case RawSocket.PONG -> {}
                    case RawSocket.CLOSE -> {
                        sayGoodbye(frame.bytes());
                        return frame.code();
                    }
                    default -> {
                        isText |= frame.kind() == RawSocket.TEXT;
                        whole.writeBytes(frame.bytes());
                        if (frame.isLast()) {
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

    private static void requireAnswer(long begun) throws SocketTimeoutException {
        if (System.nanoTime() - begun > PATIENCE.toNanos()) {
            throw new SocketTimeoutException("nothing but pings came");
        }
    }

    /// It is answered as it came; whether the other end still listens is its affair.
    private void sayGoodbye(byte[] payload) {
        try {
            socket.send(RawSocket.FIN | RawSocket.CLOSE, payload);
        } catch (IOException _) {
            // it is gone
        }
    }

    private void say(int kind, byte[] payload) {
        try {
            socket.send(RawSocket.FIN | kind, payload);
        } catch (IOException e) {
            throw new CompletionException(e);
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
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
