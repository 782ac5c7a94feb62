package coppice.process;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A program that is run to its end. Standard error is read together with standard output; beyond the limit it is dropped.
///
/// @param input what it reads from its standard input
public record Command(List<String> line, String input) {
    static final int OUTPUT_LIMIT = 1 << 20;
    private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

    /// How a program ended and what it printed.
    public record Outcome(int status, String output) {}

    public Command {
        line = List.copyOf(line);
    }

    public Command(List<String> line) {
        this(line, "");
    }

    public static Command of(String... line) {
        return new Command(List.of(line));
    }

    /// The same, with something to read.
    public Command reading(String text) {
        return new Command(line, text);
    }

    /// Runs the program. One that is late is killed and the call fails.
    public Outcome run(Deadline deadline) {
        try {
            var process = new ProcessBuilder(line).redirectErrorStream(true).start();
            try {
                Thread.startVirtualThread(() -> feed(process.getOutputStream()));
                return await(process, deadline);
            } finally {
                kill(process);
            }
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s could not be run; is its package installed?".formatted(line.getFirst()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(
                    Code.UNAVAILABLE, "interrupted while waiting for " + line.getFirst(), e);
        }
    }

    private Outcome await(Process process, Deadline deadline) throws InterruptedException {
        var output = new ByteArrayOutputStream();
        var reader = Thread.startVirtualThread(() -> drain(process.getInputStream(), output));
        if (!process.waitFor(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
            throw new Failure(
                    Code.UNAVAILABLE, "%s did not end in time".formatted(line.getFirst()));
        }
        // A program may leave another one in the background that holds its output open for ever.
        reader.join(LAST_OUTPUT);
        return new Outcome(process.exitValue(), output.toString(StandardCharsets.UTF_8));
    }

    /// Ends a program that nobody waits for any more, and what it started. Does nothing to one that has ended.
    private static void kill(Process process) {
        if (process.isAlive()) {
            var started = process.descendants().toList();
            process.destroyForcibly();
            started.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /// Runs the program and fails, showing what it printed, when its status is not 0.
    public String runOrFail(Deadline deadline) {
        var outcome = run(deadline);
        if (outcome.status() != 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "'%s' failed with status %d: %s"
                            .formatted(
                                    String.join(" ", line),
                                    outcome.status(),
                                    outcome.output().strip()));
        }
        return outcome.output();
    }

    private void feed(OutputStream into) {
        try (into) {
            into.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // It ended without reading all of it, and its status says what that means.
        }
    }

    private static void drain(InputStream from, ByteArrayOutputStream into) {
        var buffer = new byte[8192];
        try (from) {
            for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
                into.write(buffer, 0, Math.min(n, OUTPUT_LIMIT - into.size()));
            }
        } catch (IOException e) {
            // The program was killed, which closes its output; its caller knows.
        }
    }
}
