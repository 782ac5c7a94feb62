package coppice.audit;

import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A line for each request, in files of limited size: `access.log`, and older ones `access.1.log` and so on.
///
/// A request never waits for it: a thread of its own writes the lines, many at once, within a tenth of a second. A server that is killed
/// loses those of that time; if they come faster than the disk takes them, some are left out, and a line says how many.
public final class AccessLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
    private static final int MAX_WAITING = 8192;
    private static final Duration GATHER = Duration.ofMillis(50);
    private static final Duration LAST = Duration.ofSeconds(5);

    /// No line of a request.
    private static final Line END = new Line(0, "");

    /// @param at when it was told, in milliseconds since 1970
    private record Line(long at, String text) {}

    private final LineFiles files;
    private final ArrayBlockingQueue<Line> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final LongAdder leftOut = new LongAdder();
    private final Thread writer;

    private AccessLog(LineFiles files) {
        this.files = files;
        this.writer = Thread.ofPlatform().daemon().name("access-log").start(this::run);
    }

    /// @param directory made if it is not there
    /// @param fileSize how large a file may become
    /// @param files how many there may be
    public static AccessLog open(Path directory, Size fileSize, int files) {
        return new AccessLog(
                LineFiles.open(new LineFiles.Place(directory, "access", "log"), fileSize, files));
    }

    /// What it keeps without a setting: 64 MiB.
    public static AccessLog usual(Path directory) {
        return open(directory, Size.ofMib(16), 4);
    }

    /// @param text without the time, which is put before it, and without the end of the line
    public void write(String text) {
        if (!waiting.offer(new Line(System.currentTimeMillis(), text))) {
            leftOut.increment();
        }
    }

    private void run() {
        var lines = new ArrayList<Line>();
        while (true) {
            try {
                lines.add(waiting.take());
                Thread.sleep(GATHER);
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts this thread", e);
            }
            waiting.drainTo(lines);
            int end = lines.indexOf(END);
            write(end < 0 ? lines : lines.subList(0, end));
            if (end >= 0) {
                return;
            }
            lines.clear();
        }
    }

    private void write(List<Line> lines) {
        long missing = leftOut.sumThenReset();
        if (lines.isEmpty() && missing == 0) {
            return;
        }
        var text = new StringBuilder();
        lines.forEach(line -> append(text, line.at, line.text));
        if (missing > 0) {
            append(text, System.currentTimeMillis(), missing + " lines were left out");
        }
        try {
            files.append(text.toString());
        } catch (IOException e) {
            LOG.error("the access log cannot be written; missing are {} lines", lines.size(), e);
        }
    }

    private static void append(StringBuilder lines, long at, String text) {
        lines.append(Instant.ofEpochMilli(at)).append(' ').append(text).append('\n');
    }

    /// Writes what was told before.
    @Override
    public void close() {
        try {
            boolean isTold = waiting.offer(END, LAST.toMillis(), TimeUnit.MILLISECONDS);
            if (!isTold || !writer.join(LAST)) {
                LOG.warn("the access log did not end in time");
                return;
            }
            files.close();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.warn("the access log did not close", e);
        }
    }
}
