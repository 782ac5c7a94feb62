import java.io.IOException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;

/// Connections that always wait for an answer: reads of all kinds, calls that are deferred, and polls of those.
final class BusyCallers implements Switchboard.Callers {
    private static final String TO_DEFER = "/auth/v1/background-test?sleepSecs=1";
    private static final String DEFER = "x-svc-background-after-secs: 0";
    private static final Pattern RESULT = Pattern.compile("\"resultUrl\":\"([^\"]+)\"");
    private static final String DONE = "\"ok\":true";

    private final Switchboard board;
    private final Api api;
    private final Errors errors;
    private final Map<Kind, byte[]> requests = new EnumMap<>(Kind.class);
    private final Map<Kind, Long> lengths = new EnumMap<>(Kind.class);
    private final Map<Line, Caller> callers = new HashMap<>();
    private final Random random = new Random(1);
    private Counts counts = new Counts();
    private boolean isEnding;

    private enum Kind {
        VM,
        VMS,
        IDENTITY,
        IDENTITIES,
        DEFERRED,
        POLL
    }

    /// What is drawn from; a draw of a deferred call is a poll for whoever has one that is not done.
    private static final List<Kind> MIX =
            List.of(Kind.VM, Kind.VM, Kind.VMS, Kind.IDENTITY, Kind.IDENTITIES, Kind.DEFERRED);

    /// What is read.
    record Paths(String vm, String vms, String identity, String identities) {}

    /// What was answered.
    static final class Counts {
        final Stats times = new Stats();
        long deferred;
        long polls;
    }

    private static final class Caller {
        private Kind kind = Kind.VM;

        /// Where the answer to its deferred call will be.
        private Optional<String> result = Optional.empty();
    }

    BusyCallers(Switchboard board, Api api, Paths paths, Errors errors) {
        this.board = board;
        this.api = api;
        this.errors = errors;
        requests.put(Kind.VM, api.reading(paths.vm));
        requests.put(Kind.VMS, api.reading(paths.vms));
        requests.put(Kind.IDENTITY, api.reading(paths.identity));
        requests.put(Kind.IDENTITIES, api.reading(paths.identities));
        requests.put(Kind.DEFERRED, api.reading(TO_DEFER, DEFER));
    }

    /// Each begins to ask.
    void open(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            var line = board.open();
            callers.put(line, new Caller());
            ask(line, callers.get(line));
        }
    }

    /// What was answered since the last time.
    Counts take() {
        var taken = counts;
        counts = new Counts();
        return taken;
    }

    int open() {
        return callers.size();
    }

    /// From now on only deferred calls are polled, until they are done.
    void end() {
        isEnding = true;
    }

    private void ask(Line line, Caller caller) {
        if (isEnding && caller.result.isEmpty()) {
            return;
        }
        var drawn = isEnding ? Kind.DEFERRED : MIX.get(random.nextInt(MIX.size()));
        if (drawn == Kind.DEFERRED && caller.result.isPresent()) {
            caller.kind = Kind.POLL;
            board.ask(line, api.reading(caller.result.get()));
        } else {
            caller.kind = drawn;
            board.ask(line, requests.get(drawn));
        }
    }

    @Override
    public void answered(Line line) {
        var caller = callers.get(line);
        counts.times.add(line.nanos() / 1e6);
        boolean isRight =
                switch (caller.kind) {
                    case VM, VMS, IDENTITY, IDENTITIES -> isWhole(caller.kind, line);
                    case DEFERRED -> isDeferred(caller, line);
                    case POLL -> isPolled(caller, line);
                };
        if (!isRight) {
            errors.add("%s was answered %s%s".formatted(caller.kind, line.head(), line.text()));
        }
        ask(line, caller);
    }

    /// Nothing of what is read changes meanwhile.
    private boolean isWhole(Kind kind, Line line) {
        return line.status() == 200
                && lengths.computeIfAbsent(kind, _ -> line.length()) == line.length();
    }

    /// Where there is no room in the background, the call is answered when it is done.
    private boolean isDeferred(Caller caller, Line line) {
        counts.deferred++;
        if (line.status() == 202) {
            var url = RESULT.matcher(line.text());
            caller.result = url.find() ? Optional.of(url.group(1)) : Optional.empty();
            return caller.result.isPresent();
        }
        return line.status() == 200 && line.text().contains(DONE);
    }

    private boolean isPolled(Caller caller, Line line) {
        counts.polls++;
        if (line.status() == 202) {
            return true;
        }
        caller.result = Optional.empty();
        return line.status() == 200 && line.text().contains(DONE);
    }

    @Override
    public void broken(Line line, IOException why) {
        var caller = callers.remove(line);
        errors.add("a busy connection broke at %s: %s".formatted(caller.kind, why.getMessage()));
    }

    /// For as long as anything is waited for.
    @Override
    public boolean goOn() {
        return callers.keySet().stream().anyMatch(Line::isWaiting);
    }
}
