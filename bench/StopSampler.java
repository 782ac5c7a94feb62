import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// How long a guest stands still, seen from outside: the longest time in which the thread of its busy processor neither ran nor waited for
/// a core. Whoever runs the guest is measured the same way.
///
/// The kernel counts a thread's run time (`schedstat`) only at its clock ticks, every 4 ms where there are 250 of them a second, so the
/// thread's state is read: it sleeps while the guest is stopped, and else runs. The thread is the one whose run time grows fastest.
/// A guest that is ended stands still until the thread is gone.
final class StopSampler {
    private static final long PERIOD_NANOS = 500_000;
    private static final Duration CHOICE = Duration.ofMillis(200);

    private final Path status;
    private final Thread thread;
    private volatile boolean ends;
    private long stopped;
    private long blind;

    /// @param stopped how long the guest stood still
    /// @param blind the longest time between two looks: what the sampler may be wrong by
    record Seen(Duration stopped, Duration blind) {}

    private StopSampler(Path status) {
        this.status = status;
        this.thread = Thread.ofPlatform().name("sampler").daemon().start(this::look);
    }

    /// Watches the busiest thread of a process.
    static StopSampler watch(long pid) throws Exception {
        var before = runTimes(pid);
        Thread.sleep(CHOICE);
        var after = runTimes(pid);
        var busiest =
                after.entrySet().stream()
                        .max(
                                java.util.Comparator.comparingLong(
                                        e -> e.getValue() - before.getOrDefault(e.getKey(), 0L)))
                        .orElseThrow()
                        .getKey();
        return new StopSampler(busiest.resolve("status"));
    }

    private static Map<Path, Long> runTimes(long pid) throws IOException {
        var times = new HashMap<Path, Long>();
        try (var tasks =
                Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"), "[0-9]*")) {
            for (var task : tasks) {
                try {
                    var fields = Files.readString(task.resolve("schedstat")).split(" ");
                    times.put(task, Long.parseLong(fields[0]));
                } catch (IOException e) {
                    // This thread has just ended.
                }
            }
        }
        return times;
    }

    private void look() {
        long asleepSince = 0;
        long last = System.nanoTime();
        var bytes = ByteBuffer.allocate(512);
        try (var file = FileChannel.open(status, StandardOpenOption.READ)) {
            while (!ends) {
                boolean runs = isRunning(file, bytes);
                long now = System.nanoTime();
                blind = Math.max(blind, now - last);
                last = now;
                if (asleepSince == 0) {
                    asleepSince = runs ? 0 : now;
                } else {
                    stopped = Math.max(stopped, now - asleepSince);
                    asleepSince = runs ? 0 : asleepSince;
                }
                LockSupport.parkNanos(PERIOD_NANOS);
            }
        } catch (IOException e) {
            // The thread has ended, with the guest that stood still for ever.
            if (asleepSince != 0) {
                stopped = Math.max(stopped, System.nanoTime() - asleepSince);
            }
        }
    }

    /// While it is traced it makes the twin, and runs no guest.
    private static boolean isRunning(FileChannel file, ByteBuffer bytes) throws IOException {
        if (file.read(bytes.clear(), 0) <= 0) {
            throw new IOException("the thread has ended");
        }
        var status = new String(bytes.array(), 0, bytes.position(), StandardCharsets.ISO_8859_1);
        return status.contains("\nState:\tR") && status.contains("\nTracerPid:\t0\n");
    }

    Seen end() throws InterruptedException {
        ends = true;
        thread.join();
        return new Seen(Duration.ofNanos(stopped), Duration.ofNanos(blind));
    }
}
