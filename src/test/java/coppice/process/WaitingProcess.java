package coppice.process;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// A process that is like a QEMU to whoever traces it: `waiting.c`.
public final class WaitingProcess implements AutoCloseable {
    private static final String DETACHED = "setsid \"$1\" \"$2\" <\"$3\" >\"$4\" & echo $!";

    private final ProcessId process;
    private final BufferedReader output;
    private final Writer input;

    /// Compiles the program, or skips the test.
    public static Path compile(Path directory) throws Exception {
        assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "skipped: tracing another user's process needs root");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "skipped: there is no gcc");
        var source = Path.of(WaitingProcess.class.getResource("waiting.c").toURI());
        var program = directory.resolve("waiting");
        Command.of("gcc", "-O1", "-Wall", "-pthread", "-o", program.toString(), source.toString())
                .runOrFail(Deadline.in(Duration.ofSeconds(60)));
        return program;
    }

    /// Runs in a session of its own and is no child of this process, as QEMUs are.
    public WaitingProcess(Path program, Path file) throws IOException {
        var pipes = Files.createTempDirectory("waiting");
        var questions = pipes.resolve("questions").toString();
        var answers = pipes.resolve("answers").toString();
        run("mkfifo", questions, answers);
        long pid =
                Long.parseLong(
                        run(
                                        "sh",
                                        "-c",
                                        DETACHED,
                                        "sh",
                                        program.toString(),
                                        file.toString(),
                                        questions,
                                        answers)
                                .strip());
        input = new FileWriter(questions);
        output = new BufferedReader(new FileReader(answers));
        Files.delete(pipes.resolve("questions"));
        Files.delete(pipes.resolve("answers"));
        Files.delete(pipes);
        process = ProcessId.of(pid).orElseThrow();
        if (!"ready".equals(output.readLine())) {
            throw new IOException("the process ended");
        }
    }

    private static String run(String... line) {
        return Command.of(line).runOrFail(Deadline.in(Duration.ofSeconds(10)));
    }

    public ProcessId id() {
        return process;
    }

    /// Has it change random pages. Also shows that it lives.
    public void change(long seed) {
        ask("change " + (seed & Integer.MAX_VALUE));
    }

    int signals() {
        return Integer.parseInt(ask("signals"));
    }

    /// Ends what its other threads wait for, and waits for their end.
    ///
    /// @return how many registers of the one that looks at them have changed in its system call
    int wake() {
        return Integer.parseInt(ask("wake"));
    }

    private String ask(String question) {
        try {
            input.write(question + "\n");
            input.flush();
            var answer = output.readLine();
            if (answer == null) {
                throw new AssertionError("the process has ended");
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException("the process has ended", e);
        }
    }

    /// How many processes are of its session: itself and what was made of it. Zombies are left to init.
    public long count() {
        return ProcessHandle.allProcesses().filter(other -> isOfSession(other.pid())).count();
    }

    private boolean isOfSession(long pid) {
        try {
            var stat = Files.readString(Path.of("/proc/%d/stat".formatted(pid)));
            var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[3]) == process.pid() && !fields[0].equals("Z");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.kill();
        while (process.isAlive()) {
            Thread.onSpinWait();
        }
    }
}
