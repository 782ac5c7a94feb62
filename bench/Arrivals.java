import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// When datagrams come to a port of a namespace, by the clock of [System#nanoTime], which is the kernel's monotonic one.
final class Arrivals implements AutoCloseable {
    static final int PORT = 7001;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// So long nothing comes: then nothing will. Senders try each millisecond.
    private static final Duration SILENCE = Duration.ofMillis(200);

    private final BlockingQueue<Long> times = new LinkedBlockingQueue<>();
    private final Process program;

    Arrivals(Namespace namespace) throws IOException {
        program =
                new ProcessBuilder(
                                namespace.inside(
                                        List.of(Flow.program().toString(), "watch", "" + PORT)))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        Thread.ofVirtual().name("arrivals").start(this::listen);
    }

    private void listen() {
        try (BufferedReader lines = program.inputReader()) {
            lines.lines().map(Long::parseLong).forEach(times::add);
        } catch (IOException | java.io.UncheckedIOException _) {
            // It was closed, or whoever waits will say that nothing comes.
        }
    }

    /// How long after a moment the first one comes.
    Duration first(long moment) throws Exception {
        while (true) {
            var time = times.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (time == null) {
                throw new IOException("nothing passes though a rule permits it");
            }
            if (time >= moment) {
                return Duration.ofNanos(time - moment);
            }
        }
    }

    /// Waits until no more come.
    ///
    /// @return how long after a moment the last one came
    Duration last(long moment) throws Exception {
        long last = moment;
        long end = System.nanoTime() + PATIENCE.toNanos();
        for (var time = next(); time.isPresent(); time = next()) {
            last = Math.max(last, time.get());
            if (last > end) {
                throw new IOException("what no rule permits passes");
            }
        }
        return Duration.ofNanos(last - moment);
    }

    private Optional<Long> next() throws InterruptedException {
        return Optional.ofNullable(times.poll(SILENCE.toMillis(), TimeUnit.MILLISECONDS));
    }

    @Override
    public void close() {
        program.destroyForcibly();
        program.onExit().join();
    }
}
