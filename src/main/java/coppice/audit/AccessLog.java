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
    private static final String END = "";

    private final LineFiles files;
    private final ArrayBlockingQueue<String> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
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

    /// @param line without its end
    public void write(String line) {
        if (!waiting.offer(line)) {
            leftOut.increment();
        }
    }

    private void run() {
        var lines = new ArrayList<String>();
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

    private void write(List<String> lines) {
        long missing = leftOut.sumThenReset();
        if (lines.isEmpty() && missing == 0) {
            return;
        }
        var text = new StringBuilder();
        lines.forEach(line -> text.append(line).append('\n'));
        if (missing > 0) {
            text.append(Instant.now()).append(" %d lines were left out\n".formatted(missing));
        }
        try {
            files.append(text.toString());
        } catch (IOException e) {
            LOG.error("the access log cannot be written; missing are {} lines", lines.size(), e);
        }
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
