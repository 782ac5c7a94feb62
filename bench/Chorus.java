import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/// Connections that ask the same again and again, each as soon as it is answered. One thread has them all.
final class Chorus implements AutoCloseable {
    private final Switchboard board;
    private final List<Line> lines = new ArrayList<>();
    private final byte[] request;
    private long length = -1;

    /// @param times of each answer
    /// @param clientNanos processor time of the client for each answer
    record Round(Stats times, double perSecond, double clientNanos) {}

    Chorus(int port, int lines, byte[] request) throws IOException {
        this.board = new Switchboard(port);
        this.request = request;
        for (int i = 0; i < lines; i++) {
            this.lines.add(board.open());
        }
    }

    /// Has so many things asked in all. Who is fast asks more. An answer that is not 200, or not as long as the one before, is a failure.
    Round round(int asks) throws IOException {
        var asking = new Asking(asks);
        long begun = System.nanoTime();
        long processor = processorNanos();
        lines.forEach(asking::ask);
        board.serve(asking);
        double client = (processorNanos() - processor) / (double) asks;
        return new Round(asking.times, asks * 1e9 / (System.nanoTime() - begun), client);
    }

    /// Of an answer, in bytes; after the first one.
    long length() {
        return length;
    }

    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private final class Asking implements Switchboard.Callers {
        private final Stats times = new Stats();
        private int unasked;
        private int unanswered;

        Asking(int asks) {
            this.unasked = asks;
            this.unanswered = asks;
        }

        private void ask(Line line) {
            if (unasked > 0) {
                unasked--;
                board.ask(line, request);
            }
        }

        @Override
        public void answered(Line line) {
            if (line.status() != 200 || (length >= 0 && line.length() != length)) {
                throw new IllegalStateException(
                        "an answer of %d bytes: %s%s"
                                .formatted(line.length(), line.head(), line.text()));
            }
            length = line.length();
            times.add(line.nanos() / 1e6);
            unanswered--;
            ask(line);
        }

        @Override
        public void broken(Line line, IOException why) {
            throw new IllegalStateException(why.getMessage(), why);
        }

        @Override
        public boolean goOn() {
            return unanswered > 0;
        }
    }

    @Override
    public void close() throws IOException {
        board.close();
    }
}
