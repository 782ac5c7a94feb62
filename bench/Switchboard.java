import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/// Many connections to one port of this machine, served by the one thread that calls it: the client shares the processors with what it
/// measures, so it must cost little.
final class Switchboard implements AutoCloseable {
    private static final long WAIT_MILLIS = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SCRATCH = 256 << 10;

    private final InetSocketAddress address;
    private final Selector selector = Selector.open();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH);
    private final Deque<Broken> broken = new ArrayDeque<>();
    private long lateChecked = System.nanoTime();

    /// Who asks. Asks again from inside of these, if it likes to.
    interface Callers {
        void answered(Line line);

        /// The line is closed.
        void broken(Line line, IOException why);

        /// Called ten times a second or more.
        boolean goOn() throws IOException;
    }

    private record Broken(Line line, IOException why) {}

    Switchboard(int port) throws IOException {
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    Line open() throws IOException {
        var line = new Line(SocketChannel.open(address));
        line.register(this);
        return line;
    }

    SelectionKey register(SocketChannel channel, Line line) throws IOException {
        return channel.register(selector, SelectionKey.OP_READ, line);
    }

    /// What fails is told to the callers later.
    void ask(Line line, byte[] request) {
        try {
            line.ask(request);
        } catch (IOException e) {
            broken.add(new Broken(line, e));
        }
    }

    /// Returns when the callers do not go on; a question may be open then.
    void serve(Callers callers) throws IOException {
        while (callers.goOn()) {
            selector.select(key -> read((Line) key.attachment(), callers), WAIT_MILLIS);
            findLate();
            while (!broken.isEmpty()) {
                var one = broken.poll();
                one.line.close();
                callers.broken(one.line, one.why);
            }
        }
    }

    private void read(Line line, Callers callers) {
        try {
            if (!line.read(scratch)) {
                return;
            }
        } catch (IOException e) {
            broken.add(new Broken(line, e));
            return;
        }
        callers.answered(line);
    }

    private void findLate() {
        long now = System.nanoTime();
        if (now - lateChecked < Duration.ofSeconds(1).toNanos()) {
            return;
        }
        lateChecked = now;
        for (var key : selector.keys()) {
            var line = (Line) key.attachment();
            if (key.isValid()
                    && line.isWaiting()
                    && line.sinceAsked().compareTo(PATIENCE) > 0
                    && broken.stream().noneMatch(one -> one.line == line)) {
                broken.add(new Broken(line, new IOException("no answer within " + PATIENCE)));
            }
        }
    }

    /// Asks one thing and waits for the answer.
    Line askAlone(Line line, byte[] request) throws IOException {
        var alone = new Alone();
        ask(line, request);
        serve(alone);
        return line;
    }

    private static final class Alone implements Callers {
        private boolean isAnswered;

        @Override
        public void answered(Line line) {
            isAnswered = true;
        }

        @Override
        public void broken(Line line, IOException why) {
            throw new IllegalStateException(why.getMessage(), why);
        }

        @Override
        public boolean goOn() {
            return !isAnswered;
        }
    }

    @Override
    public void close() throws IOException {
        for (var key : selector.keys()) {
            ((Line) key.attachment()).close();
        }
        selector.close();
    }
}
