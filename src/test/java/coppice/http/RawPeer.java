package coppice.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// A client that says exactly what it is told, for requests that no proper client would send.
public final class RawPeer implements AutoCloseable {
    private final Socket socket;

    public RawPeer(int port) throws IOException {
        this(port, Duration.ofSeconds(10));
    }

    /// @param patience how long it waits for a byte
    public RawPeer(int port, Duration patience) throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), patience);
    }

    /// As [#RawPeer(int, Duration)], of a server elsewhere.
    public RawPeer(InetSocketAddress server, Duration patience) throws IOException {
        this.socket = new Socket(server.getAddress(), server.getPort());
        socket.setSoTimeout(Math.toIntExact(patience.toMillis()));
    }

    public RawPeer send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    public RawPeer send(byte[] bytes, int at, int length) throws IOException {
        socket.getOutputStream().write(bytes, at, length);
        return this;
    }

    /// The next bytes, so many.
    public byte[] read(int length) throws IOException {
        var bytes = socket.getInputStream().readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException(
                    "the connection ended after %d of %d bytes".formatted(bytes.length, length));
        }
        return bytes;
    }

    /// The body of an answer that comes in chunks, to its last.
    public byte[] chunks() throws IOException {
        var body = new ByteArrayOutputStream();
        while (true) {
            int length = Integer.parseInt(line(), 16);
            body.writeBytes(read(length));
            if (!line().isEmpty()) {
                throw new IOException("a chunk is longer than it says");
            }
            if (length == 0) {
                return body.toByteArray();
            }
        }
    }

    private String line() throws IOException {
        var line = new StringBuilder();
        while (!line.toString().endsWith("\r\n")) {
            line.append((char) read(1)[0]);
        }
        return line.substring(0, line.length() - 2);
    }

    /// Ends the connection by a reset, as a peer that crashed.
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    public RawPeer endOutput() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    /// Status line and headers of the next answer, and its body as far as Content-Length says.
    public Answer answer() throws IOException {
        var in = socket.getInputStream();
        var head = new StringBuilder();
        while (!head.toString().endsWith("\r\n\r\n")) {
            int c = in.read();
            if (c < 0) {
                throw new IOException("the connection ended after: " + head);
            }
            head.append((char) c);
        }
        if (head.toString().startsWith("HTTP/1.1 1")) {
            return new Answer(head.toString(), "");
        }
        var length = head.toString().replaceAll("(?is).*\r\ncontent-length: *([0-9]+).*", "$1");
        var body = length.matches("[0-9]+") ? in.readNBytes(Integer.parseInt(length)) : new byte[0];
        return new Answer(head.toString(), new String(body, StandardCharsets.UTF_8));
    }

    /// Everything until the server closes, or resets.
    public String rest() {
        var bytes = new ByteArrayOutputStream();
        try {
            InputStream in = socket.getInputStream();
            for (int c = in.read(); c >= 0; c = in.read()) {
                bytes.write(c);
            }
        } catch (SocketTimeoutException e) {
            throw new UncheckedIOException("the server did not close after: " + bytes, e);
        } catch (IOException _) {
            // A reset is an end as well.
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    public record Answer(String head, String body) {
        public int status() {
            return Integer.parseInt(head.substring(9, 12));
        }
    }
}
