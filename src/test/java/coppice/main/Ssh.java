package coppice.main;

import coppice.base.Deadline;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/// OpenSSH's own programs, against the SSH port of an installation.
final class Ssh {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    static final int PORT = 2222;

    private final String host;
    private final Path directory;

    /// @param directory for files of its own
    Ssh(String host, Path directory) {
        this.host = host;
        this.directory = directory;
    }

    record Said(int status, byte[] stdout, String stderr) {
        String text() {
            return new String(stdout, StandardCharsets.UTF_8);
        }
    }

    /// Runs `ssh` to its end.
    Said run(String login, byte[] stdin, String... arguments) {
        return finish(start(login, arguments), stdin);
    }

    Said run(String login, String... arguments) {
        return run(login, new byte[0], arguments);
    }

    Process start(String login, String... arguments) {
        var line = line("ssh");
        line.addAll(List.of("-o", "User=" + login));
        line.addAll(List.of(arguments));
        return start(line);
    }

    /// Runs `ssh` on a terminal of its own, in a shell's line that has its command line at `%s`.
    Process onTerminal(String shell, String login, String... arguments) {
        var line = line("ssh");
        line.addAll(List.of("-o", "User=" + login));
        line.addAll(List.of(arguments));
        line.add(host);
        return start(
                List.of(
                        "env",
                        "TERM=dumb-terminal",
                        "script",
                        "-qfec",
                        shell.formatted(String.join(" ", line)),
                        "/dev/null"));
    }

    /// Reads what it says until that is among it, and returns it.
    static String await(Process process, String wanted) {
        var said = new StringBuilder();
        process.onExit()
                .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .exceptionally(_ -> process.destroyForcibly());
        try {
            while (said.indexOf(wanted) < 0) {
                int next = process.getInputStream().read();
                if (next < 0) {
                    throw new AssertionError(
                            "it said only %s %s"
                                    .formatted(
                                            said,
                                            new String(
                                                    process.getErrorStream().readAllBytes(),
                                                    StandardCharsets.UTF_8)));
                }
                said.append((char) next);
            }
            return said.toString();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// `sftp` or `scp`, whose arguments name the host by [#host].
    Said tool(String program, String login, byte[] stdin, String... arguments) {
        var line = line(program);
        line.addAll(List.of("-o", "User=" + login));
        line.addAll(List.of(arguments));
        return finish(start(line), stdin);
    }

    String host() {
        return host;
    }

    private List<String> line(String program) {
        return new ArrayList<>(
                List.of(
                        program,
                        "-F",
                        "none",
                        "-o",
                        "Port=" + PORT,
                        "-o",
                        "BatchMode=yes",
                        "-o",
                        "StrictHostKeyChecking=accept-new",
                        "-o",
                        "UserKnownHostsFile=" + directory.resolve("known_hosts"),
                        "-o",
                        "IdentityAgent=none",
                        "-o",
                        "IdentityFile=none"));
    }

    private static Process start(List<String> line) {
        try {
            return new ProcessBuilder(line).start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static Said finish(Process process, byte[] stdin) {
        try {
            var out = reader(process.getInputStream());
            var err = reader(process.getErrorStream());
            try (var in = process.getOutputStream()) {
                in.write(stdin);
            } catch (IOException e) {
                // It wants no more.
            }
            var deadline = Deadline.in(PATIENCE);
            if (!process.waitFor(deadline.left().toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("ssh does not end: " + new String(err.get()));
            }
            return new Said(
                    process.exitValue(), out.get(), new String(err.get(), StandardCharsets.UTF_8));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static FutureTask<byte[]> reader(InputStream stream) {
        var task = new FutureTask<>(stream::readAllBytes);
        Thread.ofVirtual().start(task);
        return task;
    }

    Path file(String name, byte[] content) {
        try {
            return Files.write(directory.resolve(name), content);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
