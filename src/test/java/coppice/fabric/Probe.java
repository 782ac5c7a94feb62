package coppice.fabric;

import coppice.base.Deadline;
import coppice.base.IpAddress;
import coppice.process.Command;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/// The program `src/test/native/probe.c` in a network namespace: it listens and answers there, and opens connections from there. For one
/// thread.
final class Probe implements AutoCloseable {
    private static final Path SOURCE = Path.of("src/test/native/probe.c");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final String namespace;
    private final Process process;
    private final PrintStream commands;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

    /// What a stream has said so far, and heard.
    ///
    /// @param wrong answers that were none, came twice, or in the wrong order
    record Count(long sent, long answered, long wrong) {}

    /// Makes the program.
    static Path compile(Path directory) {
        var program = directory.resolve("probe");
        Command.of(
                        "gcc",
                        "-std=gnu11",
                        "-O1",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-o",
                        program.toString(),
                        SOURCE.toString())
                .runOrFail(Deadline.in(PATIENCE));
        return program;
    }

    /// @param device where it writes and hears frames
    /// @param ports on which it listens
    Probe(Path program, String namespace, String device, List<Integer> ports) {
        this.namespace = namespace;
        var line = new ArrayList<String>();
        line.addAll(List.of("nsenter", "--net=" + Script.path(namespace)));
        line.addAll(List.of(program.toString(), device));
        ports.forEach(port -> line.add(port.toString()));
        try {
            process = new ProcessBuilder(line).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = new PrintStream(process.getOutputStream(), false, StandardCharsets.UTF_8);
        Thread.ofVirtual().name("probe-" + namespace).start(this::listen);
        expect("ready");
    }

    private void listen() {
        try (var lines = new BufferedReader(process.inputReader(StandardCharsets.UTF_8))) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                said.add(line);
            }
        } catch (IOException e) {
            said.add("cannot be heard: " + e.getMessage());
        }
    }

    private String heardLine() {
        try {
            var line = said.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (line == null) {
                throw new AssertionError(
                        "the probe of %s says nothing; it is %s"
                                .formatted(namespace, process.isAlive() ? "alive" : "dead"));
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private void expect(String line) {
        var heard = heardLine();
        if (!heard.equals(line)) {
            throw new AssertionError(
                    "the probe of %s says '%s' instead of '%s'".formatted(namespace, heard, line));
        }
    }

    private String asked(String command) {
        commands.println(command);
        commands.flush();
        return heardLine();
    }

    /// Opens connections; [#outcomes] says what became of them.
    ///
    /// @param patience with each
    void begin(List<Flow> flows, Duration patience) {
        for (var flow : flows) {
            commands.println(
                    "flow %s %d %d%s"
                            .formatted(
                                    flow.words(),
                                    patience.toMillis(),
                                    flow.size(),
                                    flow.isWhole() ? "!" : ""));
        }
        commands.flush();
    }

    /// Of those that were begun, once all have ended.
    Map<Flow, Flow.Outcome> outcomes(List<Flow> begun) {
        var flows = new HashMap<String, Flow>();
        begun.forEach(flow -> flows.put(flow.id(), flow));
        var outcomes = new HashMap<Flow, Flow.Outcome>();
        while (outcomes.size() < begun.size()) {
            var line = heardLine();
            var words = line.split(" ");
            if (!flows.containsKey(words[0])) {
                throw new AssertionError("the probe of %s says: %s".formatted(namespace, line));
            }
            outcomes.put(
                    flows.get(words[0]),
                    switch (words[1]) {
                        case "reached" -> new Flow.Reached(IpAddress.stored(words[2]));
                        case "silent" -> new Flow.Silent();
                        default -> new Flow.Refused(words[2]);
                    });
        }
        return outcomes;
    }

    Flow.Outcome outcome(Flow flow, Duration patience) {
        begin(List.of(flow), patience);
        return outcomes(List.of(flow)).get(flow);
    }

    /// Opens a connection and says something every so often.
    void stream(Flow flow, Duration interval) {
        commands.println("stream %s %d".formatted(flow.words(), interval.toMillis()));
        commands.flush();
    }

    Count count(Flow stream) {
        return counted("count", stream);
    }

    /// Has a stream say no more.
    Count rest(Flow stream) {
        return counted("rest", stream);
    }

    /// Ends a stream.
    Count end(Flow stream) {
        return counted("end", stream);
    }

    private Count counted(String command, Flow stream) {
        var words = asked(command + " " + stream.id()).split(" ");
        if (!words[0].equals(stream.id())) {
            throw new AssertionError(
                    "the probe of %s says: %s".formatted(namespace, String.join(" ", words)));
        }
        return new Count(
                Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
    }

    /// Says something to everybody who has a TCP connection to this end.
    ///
    /// @return to how many
    int say(String text) {
        return Integer.parseInt(asked("say " + text).split(" ")[1]);
    }

    /// Hears frames from now on.
    void watch() {
        if (!asked("watch").equals("watching")) {
            throw new AssertionError("the probe of %s does not watch".formatted(namespace));
        }
    }

    /// Frames that came in since it watches, or since this was called last.
    List<Frame> heard() {
        int count = Integer.parseInt(asked("heard"));
        return IntStream.range(0, count).mapToObj(_ -> Frame.parse(heardLine())).toList();
    }

    /// Sends a frame as it is.
    void send(Frame frame) {
        var answer = asked("frame " + frame.hexadecimal());
        if (!answer.equals("written")) {
            throw new AssertionError("the probe of %s says: %s".formatted(namespace, answer));
        }
    }

    @Override
    public void close() {
        commands.close();
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
