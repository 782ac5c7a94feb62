package coppice.api.v5;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A client of a terminal's WebSocket, the JDK's. Frames are taken one by one: text is told as it is, what is binary as bytes.
public final class TerminalPeer implements WebSocket.Listener {
    private static final int PATIENCE = 30;

    /// What came, in order: `String`, `byte[]`, or the `Integer` that it was closed with.
    private final BlockingQueue<Object> frames = new LinkedBlockingQueue<>();

    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private WebSocket socket;
    private int closedWith;

    public static TerminalPeer open(HttpClient client, URI address, String bearer) {
        var peer = new TerminalPeer();
        peer.socket =
                client.newWebSocketBuilder()
                        .header("Authorization", "Bearer " + bearer)
                        .buildAsync(address, peer)
                        .join();
        return peer;
    }

    /// The status of an opening handshake that is refused.
    public static int refused(HttpClient client, URI address, String bearer) {
        try {
            open(client, address, bearer).cut();
            return 101;
        } catch (CompletionException e) {
            if (e.getCause() instanceof WebSocketHandshakeException refusal) {
                return refusal.getResponse().statusCode();
            }
            throw e;
        }
    }

    @Override
    public void onOpen(WebSocket opened) {
        // Frames are asked for by `next`.
    }

    // tidy: the JDK names its return type
    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
        text.append(part);
        if (isLast) {
            frames.add(text.toString());
            text.setLength(0);
        } else {
            from.request(1);
        }
        return null;
    }

    // tidy: the JDK names its return type
    @Override
    public CompletionStage<?> onBinary(WebSocket from, ByteBuffer part, boolean isLast) {
        var copy = new byte[part.remaining()];
        part.get(copy);
        bytes.writeBytes(copy);
        if (isLast) {
            frames.add(bytes.toByteArray());
            bytes.reset();
        } else {
            from.request(1);
        }
        return null;
    }

    // tidy: the JDK names its return type
    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        frames.add(code);
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable why) {
        frames.add(1006);
    }

    private Object next() {
        socket.request(1);
        try {
            var frame = frames.poll(PATIENCE, TimeUnit.SECONDS);
            if (frame == null) {
                throw new AssertionError("nothing came");
            }
            return frame;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
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
        socket.sendBinary(ByteBuffer.wrap(input), true).join();
    }

    public void say(String frame) {
        socket.sendText(frame, true).join();
    }

    public void close() {
        socket.sendClose(1000, "").join();
    }

    /// Goes away without a word.
    public void cut() {
        socket.abort();
    }
}
