package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Commands in one VM. A pause costs none of them anything. One whose caller or server has gone has run once, to its end, or, if it never
/// came to the guest, not at all.
final class ExecTraffic extends Traffic {
    private static final int OUTPUT = 4 << 20;
    private static final int STDIN = 1 << 20;
    private static final int SKIPPED = 1000;

    /// Where commands say that they have begun, and that they come to their end.
    private static final String NOTES = "/var/notes";

    /// Ends what waits for its stdin, waits until none runs that would write a note, and tells all.
    private static final String COUNT =
            """
            kill -9 $(ps | grep -E '[e]cho (%s) ' | awk '{print $1}') 2>/dev/null
            i=0
            while ps | grep -q '[e]cho %s'; do
              usleep 100000; i=$((i+1)); [ $i -lt 300 ] || exit 1
            done
            touch %s; grep '^%s' %s || true
            """;

    private final String name;
    private final Set<String> answered = new HashSet<>();

    /// Those of which nothing was heard, and whether they may wait for a stdin that ended with their server.
    private final Map<String, Boolean> inDoubt = new HashMap<>();

    private int count;

    /// A command without its notes, and what must come of it.
    private record Command(
            String script, byte[] stdin, Optional<Integer> status, String stdout, String stderr) {

        boolean isCut() {
            return status.isEmpty();
        }
    }

    ExecTraffic(Lane lane) {
        super(lane);
        this.name = "x%x-".formatted(random.nextInt() & 0xffff);
    }

    @Override
    void step() {
        var id = name + count++;
        var command = command();
        var body = body(id, command);
        var mark = weather.mark(vm);
        weather.said(vm, command.stdout().length() + command.stderr().length());
        if (random.nextInt(8) == 0) {
            story.tell("leave " + id);
            inDoubt.put(id, command.stdin().length > 0);
            client.abandon("POST", path(), body, Duration.ofMillis(1 + random.nextInt(200)));
            return;
        }
        try {
            story.tell("run %s: %s".formatted(id, command.script()));
            var answer = client.send("POST", path(), body);
            if (answer.status() == 200 || !weather.wasKilled(mark)) {
                require(id, command, answer.expect(200));
                return;
            }
        } catch (UncheckedIOException e) {
            if (!weather.wasKilled(mark)) {
                throw e;
            }
        }
        inDoubt.put(id, command.stdin().length > 0);
        weather.awaitServer();
    }

    private String path() {
        return "/v5/vms/%s/exec-await".formatted(vm);
    }

    private Command command() {
        int status = random.nextInt(256);
        var end = "exit " + status;
        if (random.nextInt(6) == 0) {
            int signal = random.nextBoolean() ? 9 : 15;
            status = 128 + signal;
            end = "kill -%d $$; sleep 60".formatted(signal);
        }
        return switch (random.nextInt(6)) {
            case 0 -> new Command("echo a; sleep 60", new byte[0], Optional.empty(), "a\n", "");
            case 1 -> hash(end, status);
            case 2, 3 -> written(end, status);
            default -> echo(end, status);
        };
    }

    private Command hash(String end, int status) {
        var bytes = new KnownBytes(random.nextLong(), sizes.next(random, STDIN));
        return new Command(
                "sha256sum >&2; " + end,
                bytes.all(),
                Optional.of(status),
                "",
                bytes.sha256() + "  -\n");
    }

    /// Text comes back as it went, on one of stdout and stderr or on both, in the middle of it perhaps a pause.
    private Command echo(String end, int status) {
        var bytes = new KnownBytes(random.nextLong(), sizes.next(random, STDIN)).text();
        var text = new String(bytes, UTF_8);
        var wait = random.nextInt(3) == 0 ? "sleep 0.%d; ".formatted(random.nextInt(1, 9)) : "";
        return switch (random.nextInt(3)) {
            case 0 -> new Command(wait + "cat; " + end, bytes, Optional.of(status), text, "");
            case 1 ->
                    new Command(
                            wait + "tee /proc/self/fd/2; " + wait + end,
                            bytes,
                            Optional.of(status),
                            text,
                            text);
            default -> new Command("cat >&2; " + wait + end, bytes, Optional.of(status), "", text);
        };
    }

    /// More than comes back, sometimes.
    private Command written(String end, int status) {
        int size = sizes.nextInt(random, OUTPUT + 100_000);
        var numbers = Numbers.any(random, size + SKIPPED * Numbers.LINE);
        int half = random.nextInt(size + 1);
        var rest = new Numbers(numbers.from() + SKIPPED);
        return new Command(
                "%s; (%s) >&2; %s".formatted(numbers.writing(size), rest.writing(half), end),
                new byte[0],
                Optional.of(status),
                new String(numbers.part(0, Math.min(size, OUTPUT)), UTF_8),
                new String(rest.part(0, Math.min(half, OUTPUT)), UTF_8));
    }

    /// The note of the end comes before a command ends itself.
    private byte[] body(String id, Command command) {
        var note = "echo %s >> %s; ".formatted(id, NOTES);
        int last =
                command.script().lastIndexOf(command.script().contains("kill") ? "kill" : "exit");
        var script =
                command.isCut()
                        ? command.script()
                        : note
                                + command.script().substring(0, last)
                                + note
                                + command.script().substring(last);
        return Json.write(
                new JsonWriter()
                        .put("command", script)
                        .put("stdin", Base64.getEncoder().encodeToString(command.stdin()))
                        .put("timeoutMs", command.isCut() ? 1 + random.nextInt(2000) : 120_000));
    }

    private void require(String id, Command command, JsonObject result) {
        var stdout = result.requiredString("stdout");
        if (command.isCut()) {
            assertTrue(result.isNull("statusCode"), () -> "not cut off: " + result);
            assertTrue(command.stdout().startsWith(stdout), stdout);
            return;
        }
        answered.add(id);
        assertEquals(command.status().map(Integer::longValue), result.integer("statusCode"), id);
        requireText(id + " stdout", command.stdout(), stdout);
        requireText(id + " stderr", command.stderr(), result.requiredString("stderr"));
    }

    private static void requireText(String what, String expected, String found) {
        if (!expected.equals(found)) {
            int at = 0;
            while (at < Math.min(expected.length(), found.length())
                    && expected.charAt(at) == found.charAt(at)) {
                at++;
            }
            throw new AssertionError(
                    "%s: %d characters, must be %d; others from %d on: '%s'"
                            .formatted(
                                    what,
                                    found.length(),
                                    expected.length(),
                                    at,
                                    found.substring(at, Math.min(found.length(), at + 100))));
        }
    }

    /// Each that was answered has two notes; each in doubt has, when what runs has ended, two or none.
    @Override
    void end() {
        var waiting = inDoubt.keySet().stream().filter(inDoubt::get).collect(joining("|"));
        var command = COUNT.formatted(waiting, name, NOTES, name, NOTES);
        var found = Optional.<String>empty();
        while (found.isEmpty()) {
            weather.awaitServer();
            found = weather.unlessKilled(vm, () -> client.run(vm, command));
        }
        Map<String, Integer> notes = new HashMap<>();
        found.get().lines().forEach(id -> notes.merge(id, 1, Integer::sum));
        for (var id : answered) {
            assertEquals(2, notes.getOrDefault(id, 0), () -> "how often " + id + " was noted");
        }
        notes.forEach(
                (id, times) ->
                        assertTrue(
                                times == 2 || times == 1 && inDoubt.getOrDefault(id, false),
                                () -> "%s was noted %d times".formatted(id, times)));
        story.tell(
                "%d commands answered, %d in doubt, of which %d have run"
                        .formatted(
                                answered.size(), inDoubt.size(), notes.size() - answered.size()));
    }
}
