package coppice.guest;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.Channels;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/// The agent's end of a connection, for scripts that follow the protocol as far as they like.
final class Wire {
    static final List<String> CAPABILITIES =
            List.of(
                    "exec",
                    "exec.attach",
                    "exec.kill",
                    "clock",
                    "sync",
                    "shutdown",
                    "leave",
                    "disk.grow",
                    "cpu.online",
                    "memory.online",
                    "file.stat",
                    "file.read",
                    "file.write",
                    "file.list",
                    "file.mkdir",
                    "file.remove",
                    "file.watch",
                    "pty.open",
                    "pty.attach",
                    "pty.list",
                    "pty.resize",
                    "pty.signal",
                    "pty.close",
                    "network");

    private final ByteChannel channel;
    private final FrameWriter writer;
    private final FrameReader reader;
    private final byte[] nonce;
    private final Fields hello;

    /// Reads what a host sends first.
    Wire(ByteChannel channel) throws IOException {
        this.channel = channel;
        this.writer = new FrameWriter(channel);
        var in = new BufferedInputStream(input(channel));
        findMagic(in);
        this.nonce = in.readNBytes(16);
        this.reader = new FrameReader(Channels.newChannel(in));
        this.hello = Fields.parse(next(FrameKind.HELLO).payload());
    }

    Fields hello() {
        return hello;
    }

    UUID generation() throws IOException {
        return hello.uuid(Tag.GENERATION).orElseThrow();
    }

    byte[] nonce() {
        return nonce;
    }

    /// Magic, nonce and an honest WELCOME; but without the clock, which a host sets again when a greeting took long: scripts need not
    /// expect that.
    void welcome() throws IOException {
        welcome(honestWelcome());
    }

    void welcome(FieldsWriter fields) throws IOException {
        raw(Guest.MAGIC);
        raw(nonce);
        send(Frame.fields(FrameKind.WELCOME, 0, fields.toBytes()));
    }

    FieldsWriter honestWelcome() throws IOException {
        var fields =
                new FieldsWriter()
                        .number(Tag.VERSION, 1)
                        .uuid(Tag.GENERATION, generation())
                        .text(Tag.AGENT_VERSION, "fake 1")
                        .number(Tag.WINDOW, 65536)
                        .text(Tag.BOOT_ID, "boot 1");
        CAPABILITIES.stream()
                .filter(capability -> !capability.equals("clock"))
                .forEach(capability -> fields.text(Tag.CAPABILITY, capability));
        return fields;
    }

    void send(Frame frame) throws IOException {
        writer.write(frame);
    }

    void raw(byte[] bytes) throws IOException {
        writer.write(ByteBuffer.wrap(bytes));
    }

    /// A frame whose bytes a script may spoil.
    void raw(ByteBuffer bytes) throws IOException {
        writer.write(bytes);
    }

    Frame next() throws IOException {
        return reader.next().orElseThrow(() -> new IOException("the host closed the connection"));
    }

    /// The next frame of this kind; others are dropped.
    Frame next(FrameKind kind) throws IOException {
        var frame = next();
        while (frame.kind() != kind) {
            frame = next();
        }
        return frame;
    }

    void close() throws IOException {
        channel.close();
    }

    private static InputStream input(ByteChannel channel) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                var one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                return channel.read(ByteBuffer.wrap(bytes, from, length));
            }
        };
    }

    private static void findMagic(InputStream in) throws IOException {
        var window = new byte[Guest.MAGIC.length];
        while (!Arrays.equals(window, Guest.MAGIC)) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the host closed the connection");
            }
            System.arraycopy(window, 1, window, 0, window.length - 1);
            window[window.length - 1] = (byte) next;
        }
    }
}
