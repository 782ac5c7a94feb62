package coppice.guest;

import java.io.IOException;
import java.net.ProtocolException;
import java.nio.channels.ByteChannel;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// One connection of a [FakeGuest]: one thread reads, one writes. All state is guarded by the monitor of the guest.
final class FakeSession {
    private final FakeGuest guest;
    private final ByteChannel channel;
    private final Random random = new Random(7);
    private final Map<Integer, FakeStream> streams = new LinkedHashMap<>();
    private final ArrayDeque<Frame> replies = new ArrayDeque<>();
    private boolean over;
    private int lastOpened;

    FakeSession(FakeGuest guest, ByteChannel channel) {
        this.guest = guest;
        this.channel = channel;
    }

    void serve() throws IOException {
        try (channel) {
            var wire = new Wire(channel);
            wire.raw(guest.stale());
            wire.welcome(guest.welcome(wire));
            Thread.ofVirtual().name("fake-agent-writer").start(() -> write(wire));
            while (true) {
                receive(wire.next());
            }
        } finally {
            synchronized (guest) {
                over = true;
                streams.values().forEach(FakeStream::close);
                guest.notifyAll();
            }
        }
    }

    private void write(Wire wire) {
        try {
            while (true) {
                Optional<Frame> frame;
                synchronized (guest) {
                    frame = nextFrame();
                    while (frame.isEmpty() && !over) {
                        guest.wait();
                        frame = nextFrame();
                    }
                    if (over) {
                        return;
                    }
                }
                wire.send(frame.get());
            }
        } catch (IOException | InterruptedException e) {
            try {
                wire.close();
            } catch (IOException again) {
                e.addSuppressed(again);
            }
        }
    }

    private void receive(Frame frame) throws IOException {
        synchronized (guest) {
            var stream = streams.get(frame.stream());
            switch (frame.kind()) {
                case OPEN -> open(frame);
                case PING -> replies.add(new Frame(FrameKind.PONG, 0, false, 0, frame.payload()));
                case RESET -> {
                    guest.did("reset");
                    close(frame.stream());
                }
                case DATA -> {
                    if (stream != null) {
                        stdin(frame, stream);
                    }
                }
                case END -> {
                    if (stream != null) {
                        stream.stdin = stream.stdinStart(frame.offset());
                        require(frame.offset() == stream.stdin, "the end of stdin");
                        if (stream.work.isPresent()) {
                            stream.work.get().bodyEnded();
                        } else {
                            guest.run(stream.command.orElseThrow());
                        }
                    }
                }
                case CREDIT -> {
                    if (stream != null) {
                        stream.credit[frame.channel()] =
                                Math.max(stream.credit[frame.channel()], frame.offset());
                    }
                }
                case HELLO, WELCOME, RESULT, PONG -> require(false, "it sent " + frame);
            }
            guest.notifyAll();
        }
    }

    private void stdin(Frame frame, FakeStream stream) throws IOException {
        int length = frame.payload().length - Long.BYTES;
        stream.stdin = stream.stdinStart(frame.dataOffset());
        require(frame.dataOffset() == stream.stdin, "the offset of stdin");
        require(frame.dataOffset() + length <= stream.stdinCredit, "more stdin than credit");
        if (stream.work.isPresent()) {
            stream.work.get().take(frame.payload(), Long.BYTES, length);
        } else {
            var had = stream.command.orElseThrow().stdin;
            int known = Math.clamp(had.size() - stream.stdin, 0, length);
            had.write(frame.payload(), Long.BYTES + known, length - known);
        }
        stream.stdin += length;
        stream.stdinCredit = Math.max(stream.stdinCredit, stream.stdin + guest.window());
        replies.add(Frame.offset(FrameKind.CREDIT, frame.stream(), 0, stream.stdinCredit));
    }

    private void open(Frame frame) throws IOException {
        if (!streams.containsKey(frame.stream())) {
            require(frame.stream() > lastOpened, "a stream out of order");
            lastOpened = frame.stream();
        }
        var stream = streams.computeIfAbsent(frame.stream(), _ -> new FakeStream());
        stream.stdinCredit = guest.window();
        stream.open.writeBytes(frame.payload());
        if (frame.more()) {
            return;
        }
        var fields = Fields.parse(stream.open.toByteArray());
        var operation = fields.text(Tag.OPERATION).orElseThrow();
        if (!guest.knows(operation)) {
            refuse(frame.stream(), "UNSUPPORTED", "what is " + operation);
            return;
        }
        begin(operation, frame.stream(), stream, fields);
    }

    private void begin(String operation, int number, FakeStream stream, Fields fields)
            throws IOException {
        stream.work = guest.files().begin(operation, fields);
        if (stream.work.isEmpty()) {
            stream.work = guest.terminals().begin(operation, fields);
        }
        if (stream.work.isPresent()) {
            return;
        }
        switch (operation) {
            case "exec" -> exec(number, stream, fields);
            case "exec.attach" -> attach(number, stream, fields);
            case "exec.kill" -> {
                if (guest.command(fields.uuid(Tag.EXEC_ID).orElseThrow()).isPresent()) {
                    done(number, "kill " + fields.number(Tag.SIGNAL, 64));
                } else {
                    refuse(number, "NO_SUCH_EXEC", "");
                }
            }
            case "clock" -> done(number, "clock " + fields.number(Tag.WALL_CLOCK, Long.MAX_VALUE));
            case "cpu.online" -> done(number, "cpus " + fields.number(Tag.COUNT, 1000));
            case "memory.online" ->
                    done(number, "memory " + fields.number(Tag.SIZE, Long.MAX_VALUE));
            case "network" -> done(number, FakeNetwork.describe(fields));
            case "disk.grow" ->
                    done(number, operation, new FieldsWriter().number(Tag.SIZE, 5L << 30));
            default -> done(number, operation);
        }
    }

    private void exec(int number, FakeStream stream, Fields fields) throws IOException {
        switch (fields.text(Tag.USER).orElse("")) {
            case "nobody-here" -> refuse(number, "NO_SUCH_USER", "");
            case "one-too-many" -> refuse(number, "TOO_MANY", "");
            case "liar" -> refuse(number, "FAILED", "\u001b[31mfork\n\u202e" + "x".repeat(10_000));
            default ->
                    stream.command =
                            Optional.of(
                                    guest.command(
                                            fields.uuid(Tag.EXEC_ID).orElseThrow(),
                                            fields.text(Tag.COMMAND).orElseThrow(),
                                            (int)
                                                    fields.number(
                                                            Tag.OUTPUT_LIMIT, Integer.MAX_VALUE)));
        }
    }

    private void attach(int number, FakeStream stream, Fields fields) throws IOException {
        stream.command = guest.command(fields.uuid(Tag.EXEC_ID).orElseThrow());
        stream.sent[1] = fields.number(Tag.STDOUT_OFFSET, Integer.MAX_VALUE);
        stream.sent[2] = fields.number(Tag.STDERR_OFFSET, Integer.MAX_VALUE);
        if (stream.command.isEmpty()) {
            refuse(number, "NO_SUCH_EXEC", "");
        } else {
            stream.stdinCredit = stream.command.get().stdin.size() + guest.window();
            replies.add(Frame.offset(FrameKind.CREDIT, number, 0, stream.stdinCredit));
        }
    }

    private void refuse(int number, String code, String message) {
        streams.remove(number);
        replies.add(
                Frame.fields(
                        FrameKind.RESET,
                        number,
                        new FieldsWriter()
                                .text(Tag.CODE, code)
                                .text(Tag.MESSAGE, message)
                                .toBytes()));
    }

    private void done(int number, String what) {
        done(number, what, new FieldsWriter());
    }

    private void done(int number, String what, FieldsWriter result) {
        streams.remove(number);
        guest.did(what);
        replies.add(Frame.fields(FrameKind.RESULT, number, result.toBytes()));
    }

    private Optional<Frame> nextFrame() {
        if (!replies.isEmpty()) {
            return Optional.of(replies.poll());
        }
        for (int number : List.copyOf(streams.keySet())) {
            var stream = streams.remove(number);
            streams.put(number, stream); // to the end: its turn is over
            var frame = nextFrame(number, stream);
            if (frame.isPresent()) {
                return frame;
            }
        }
        return Optional.empty();
    }

    private void close(int number) {
        var stream = streams.remove(number);
        if (stream != null) {
            stream.close();
        }
    }

    private Optional<Frame> nextFrame(int number, FakeStream stream, FakeWork work) {
        boolean isRefused = work.last.filter(frame -> frame.kind() == FrameKind.RESET).isPresent();
        boolean isDone = work.last.isPresent();
        for (int c = 2; c >= 1 && !isRefused; c--) {
            int from = (int) stream.sent[c];
            int length =
                    (int) Math.min(Math.min(work.out[c].size(), stream.credit[c]) - from, chunk());
            if (length > 0) {
                stream.sent[c] += length;
                return Optional.of(work.out[c].frame(number, c, from, length));
            }
            if (work.ends[c] && from == work.out[c].size() && !stream.ended[c]) {
                stream.ended[c] = true;
                return Optional.of(Frame.offset(FrameKind.END, number, c, from));
            }
            isDone &= !work.ends[c] || stream.ended[c];
        }
        if (!isDone && !isRefused) {
            return Optional.empty();
        }
        close(number);
        var last = work.last.get();
        return Optional.of(Frame.fields(last.kind(), number, last.payload()));
    }

    private Optional<Frame> nextFrame(int number, FakeStream stream) {
        if (stream.work.isPresent()) {
            return nextFrame(number, stream, stream.work.get());
        }
        if (stream.command.isEmpty() || stream.command.get().ending.isEmpty()) {
            return Optional.empty();
        }
        var command = stream.command.get();
        for (int c = 1; c <= 2; c++) {
            int kept = command.kept(c);
            int from = (int) stream.sent[c];
            int length = (int) Math.min(Math.min(kept, stream.credit[c]) - from, chunk());
            if (length > 0) {
                stream.sent[c] += length;
                return Optional.of(Frame.data(number, c, from, command.output(c), from, length));
            }
            if (from == kept && !stream.ended[c]) {
                stream.ended[c] = true;
                return Optional.of(Frame.offset(FrameKind.END, number, c, kept));
            }
        }
        if (stream.ended[1] && stream.ended[2]) {
            streams.remove(number);
            var ending = command.ending.get();
            return Optional.of(
                    Frame.fields(
                            FrameKind.RESULT,
                            number,
                            new FieldsWriter()
                                    .number(Tag.STDOUT_LENGTH, ending.stdout().length)
                                    .number(Tag.STDERR_LENGTH, ending.stderr().length)
                                    .number(ending.how(), ending.value())
                                    .toBytes()));
        }
        return Optional.empty();
    }

    /// Mostly whole frames, now and then a few bytes.
    private int chunk() {
        return random.nextInt(4) == 0 ? 1 + random.nextInt(50) : Frame.MAX_DATA - random.nextInt(2);
    }

    private void require(boolean holds, String what) throws ProtocolException {
        if (!holds) {
            guest.did("breach: " + what);
            throw new ProtocolException("the host broke the protocol: " + what);
        }
    }
}
