package coppice.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// Another process on the same file: it writes numbers as fast as it can until it is killed, and prints each one that the store
/// has acknowledged.
final class WritingChild implements AutoCloseable {
    private static final int WRITERS = 8;

    private final Process process;
    private final BufferedReader acknowledged;

    private WritingChild(Process process) {
        this.process = process;
        this.acknowledged = process.inputReader();
    }

    static WritingChild start(Path file) throws IOException {
        var classPath =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        return new WritingChild(
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                classPath,
                                WritingChild.class.getName(),
                                file.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
    }

    /// The next `count` acknowledged numbers, or fewer if the child has ended.
    List<Long> next(int count) throws IOException {
        var numbers = new ArrayList<Long>();
        while (numbers.size() < count) {
            var line = acknowledged.readLine();
            if (line == null) {
                break;
            }
            // A line that the kill cut short was acknowledged too, but its number is not known.
            if (line.endsWith(".")) {
                numbers.add(Long.valueOf(line.substring(0, line.length() - 1)));
            }
        }
        return numbers;
    }

    /// Kills it with SIGKILL; returns what it had still acknowledged.
    List<Long> kill() throws IOException {
        // Through its handle: Process.destroyForcibly would close the stream that is read here.
        process.toHandle().destroyForcibly();
        return next(Integer.MAX_VALUE);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly().onExit().join();
        acknowledged.close();
    }

    static void main(String[] arguments) throws InterruptedException {
        var store = Store.open(Path.of(arguments[0]));
        store.change(
                handle ->
                        handle.execute(
                                "create table if not exists numbers (n bigint not null primary key)"));
        // No two children write the same number.
        var next = new AtomicLong(ProcessHandle.current().pid() << 32);
        var threads = new ArrayList<Thread>();
        for (var i = 0; i < WRITERS; i++) {
            threads.add(Thread.startVirtualThread(() -> writeAll(store, next, System.out)));
        }
        for (var thread : threads) {
            thread.join();
        }
    }

    private static void writeAll(Store store, AtomicLong next, PrintStream out) {
        while (true) {
            var n = next.incrementAndGet();
            store.change(handle -> handle.execute("insert into numbers values (?)", n));
            out.println(n + ".");
        }
    }
}
