package coppice.process;

import coppice.Wait;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// A shell script that runs beside a test until the test closes it.
final class Child implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    Child(String script, String... arguments) throws IOException {
        var line = new java.util.ArrayList<>(java.util.List.of("sh", "-c", script, "child"));
        line.addAll(java.util.List.of(arguments));
        process = new ProcessBuilder(line).redirectErrorStream(true).start();
        output = new BufferedReader(new InputStreamReader(process.getInputStream()));
    }

    long pid() {
        return process.pid();
    }

    /// The next line that the script prints.
    String says() throws IOException {
        return output.readLine();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    static void await(String what, BooleanSupplier condition) {
        Wait.until(Duration.ofSeconds(20), condition, () -> "it did not happen in time: " + what);
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        await("the end of the child", () -> !process.isAlive());
    }
}
