package coppice.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/// A client that says exactly what it is told, for requests that no proper client would send.
public final class RawPeer implements AutoCloseable {
    private final Socket socket;

    public RawPeer(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(10_000);
    }

    public RawPeer send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
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
