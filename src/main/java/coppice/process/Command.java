package coppice.process;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A program that is run to its end. Standard error is read together with standard output; beyond the limit it is dropped.
public record Command(List<String> line) {
    private static final int OUTPUT_LIMIT = 1 << 20;

    /// How a program ended and what it printed.
    public record Outcome(int status, String output) {}

    public Command {
        line = List.copyOf(line);
    }

    public static Command of(String... line) {
        return new Command(List.of(line));
    }

    /// Runs the program. One that is late is killed and the call fails.
    public Outcome run(Deadline deadline) {
        try {
            var process = new ProcessBuilder(line).redirectErrorStream(true).start();
            process.getOutputStream().close();
            var output = new StringBuilder();
            var reader = Thread.startVirtualThread(() -> drain(process.getInputStream(), output));
            if (!process.waitFor(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                process.destroyForcibly();
                throw new Failure(
                        Code.UNAVAILABLE, "%s did not end in time".formatted(line.getFirst()));
            }
            reader.join(1000);
            synchronized (output) {
                return new Outcome(process.exitValue(), output.toString());
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

    private static void drain(InputStream from, StringBuilder into) {
        var buffer = new byte[8192];
        try (from) {
            for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
                synchronized (into) {
                    if (into.length() < OUTPUT_LIMIT) {
                        into.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
