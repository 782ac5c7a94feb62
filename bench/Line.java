import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// A connection of HTTP/1.1 that a [Switchboard] serves. One question at a time; of an answer, which must tell its length, only the
/// beginning is kept.
final class Line {
    private static final int KEPT = 4 << 10;
    private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HEAD_END = {'\r', '\n', '\r', '\n'};

    /// Of `HTTP/1.1 200 OK`.
    private static final int STATUS_AT = 9;

    private final SocketChannel channel;
    private final byte[] kept = new byte[KEPT];
    private int keptCount;
    private int bodyAt;
    private long length;
    private long received;
    private boolean isWaiting;
    private long asked;
    private long answered;

    Line(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    /// @param request head and body as they are sent; far smaller than a socket's buffer
    void ask(byte[] request) throws IOException {
        if (isWaiting) {
            throw new IllegalStateException("it waits for an answer");
        }
        isWaiting = true;
        keptCount = 0;
        bodyAt = 0;
        length = 0;
        received = 0;
        asked = System.nanoTime();
        if (channel.write(ByteBuffer.wrap(request)) != request.length) {
            throw new IOException("the connection does not take a request");
        }
    }

    /// Reads what is there.
    ///
    /// @param scratch to read into
    /// @return whether the answer is whole
    boolean read(ByteBuffer scratch) throws IOException {
        scratch.clear();
        if (channel.read(scratch) < 0) {
            throw new EOFException("the server closed the connection");
        }
        scratch.flip();
        if (!isWaiting && scratch.hasRemaining()) {
            throw new IOException("an answer that nobody asked for");
        }
        received += scratch.remaining();
        int more = Math.min(scratch.remaining(), KEPT - keptCount);
        scratch.get(kept, keptCount, more);
        keptCount += more;
        if (bodyAt == 0 && !readHead()) {
            return false;
        }
        if (received > bodyAt + length) {
            throw new IOException("more bytes than the answer has");
        }
        if (received == bodyAt + length) {
            answered = System.nanoTime();
            isWaiting = false;
        }
        return !isWaiting;
    }

    /// Without a string: the client must cost little.
    private boolean readHead() throws IOException {
        int lineAt = 0;
        for (int at = 0; at + HEAD_END.length <= keptCount; at++) {
            if (kept[at] != '\r') {
                continue;
            }
            if (startsWith(at, HEAD_END)) {
                bodyAt = at + HEAD_END.length;
                return true;
            }
            lineAt = at + 2;
            if (startsWith(lineAt, LENGTH)) {
                length = number(lineAt + LENGTH.length);
            }
        }
        if (keptCount == KEPT) {
            throw new IOException("the head of the answer is too long, or none");
        }
        length = 0;
        return false;
    }

    /// @param word in small letters
    private boolean startsWith(int at, byte[] word) {
        if (at + word.length > keptCount) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            byte b = kept[at + i];
            if ((b >= 'A' && b <= 'Z' ? b + 32 : b) != word[i]) {
                return false;
            }
        }
        return true;
    }

    private long number(int from) {
        long number = 0;
        for (int at = from; at < keptCount && kept[at] != '\r'; at++) {
            if (kept[at] != ' ') {
                number = number * 10 + kept[at] - '0';
            }
        }
        return number;
    }

    SelectionKey register(Switchboard board) throws IOException {
        return board.register(channel, this);
    }

    boolean isWaiting() {
        return isWaiting;
    }

    /// How long it has waited, or how long it is since it asked.
    Duration sinceAsked() {
        return Duration.ofNanos(System.nanoTime() - asked);
    }

    /// From the question to the last byte of the answer.
    long nanos() {
        return answered - asked;
    }

    int status() {
        return (kept[STATUS_AT] - '0') * 100
                + (kept[STATUS_AT + 1] - '0') * 10
                + kept[STATUS_AT + 2]
                - '0';
    }

    /// Of the body, in bytes.
    long length() {
        return length;
    }

    /// Status line and headers.
    String head() {
        return new String(kept, 0, bodyAt, StandardCharsets.ISO_8859_1);
    }

    /// The beginning of the body.
    String text() {
        return new String(kept, bodyAt, keptCount - bodyAt, StandardCharsets.UTF_8);
    }

    /// Never fails: what is closed is not asked again.
    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is gone all the same.
        }
    }
}
