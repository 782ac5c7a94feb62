import coppice.json.Json;
import coppice.json.JsonWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Says what was measured: a line of a table for people, and a line of JSON.
final class Report {
    private static final String ROW =
            "%-19s %-12s %9s %6s %4s %10s %10s %10s %10s %10s %6s %10s %6s  %s%n";

    private final Machine machine;
    private final Optional<Path> json;
    private final double loadAtStart;
    private final List<String> alarms = new ArrayList<>();

    /// What was measured, on what.
    ///
    /// @param image the guest image, or `-`
    /// @param memory of the guest, in MiB; 0 without a guest
    /// @param dirty how much the guest wrote before, in MiB; 0 when that was not set
    /// @param target the highest ratio to the floor, or the highest value, or the lowest of a rate, in words; empty without one
    record Subject(String bench, String image, long memory, long dirty, String target) {}

    /// What was done in a second.
    enum Rate {
        CALLS("/s", "PerSecond"),
        COMMANDS("/s", "PerSecond"),
        MIB(" MiB/s", "MibPerSecond");

        private final String unit;
        private final String key;

        Rate(String unit, String key) {
            this.unit = unit;
            this.key = key;
        }
    }

    Report(Machine machine, Optional<Path> json) throws IOException {
        this.machine = machine;
        this.json = json;
        this.loadAtStart = Machine.load();
    }

    void begin() {
        System.out.println(machine);
        System.out.printf(Locale.ROOT, "load average at start: %.2f%n", loadAtStart);
        if (loadAtStart > 1) {
            System.out.println(
                    "WARNING: the machine is busy (load average above 1): times are too long, only the ratios may mean something");
        }
        System.out.printf(
                ROW,
                "bench",
                "image",
                "memory",
                "dirty",
                "N",
                "p50 ms",
                "p99 ms",
                "min ms",
                "floor p50",
                "floor p99",
                "ratio",
                "peer p50",
                "gain",
                "target");
    }

    /// Repeats the alarms: nobody reads the middle of a long output.
    ///
    /// @return whether there was none
    boolean end() throws IOException {
        System.out.printf(Locale.ROOT, "load average at end: %.2f%n", Machine.load());
        alarms.forEach(text -> System.err.println("ERROR: " + text));
        return alarms.isEmpty();
    }

    /// Times that have no floor.
    void times(Subject subject, Stats server) throws IOException {
        times(subject, server, Map.of());
    }

    /// @param more numbers for the line of JSON, by name
    void times(Subject subject, Stats server, Map<String, Long> more) throws IOException {
        row(subject, server.count(), millis(server, ""), List.of("", "", "", "", ""));
        write(
                line(subject)
                        .put("runs", server.count())
                        .put("p50Ms", rounded(server.percentile(50)))
                        .put("p99Ms", rounded(server.percentile(99)))
                        .put("minMs", rounded(server.percentile(0)))
                        .putAll(more));
    }

    /// Times of the server beside those of the floor.
    void times(Subject subject, Stats server, Stats floor) throws IOException {
        times(subject, server, floor, Optional.empty());
    }

    /// Times of the server beside those of the floor and, if it was measured, of the peer. The gain is how many times longer the peer
    /// takes.
    void times(Subject subject, Stats server, Stats floor, Optional<Stats> peer)
            throws IOException {
        double ratio = server.median() / floor.median();
        row(
                subject,
                server.count(),
                millis(server, ""),
                List.of(
                        number(floor.percentile(50)),
                        number(floor.percentile(99)),
                        "%.2f".formatted(ratio),
                        peer.map(stats -> number(stats.median())).orElse(""),
                        peer.map(stats -> "%.1f".formatted(stats.median() / server.median()))
                                .orElse("")));
        var json =
                line(subject)
                        .put("runs", server.count())
                        .put("p50Ms", rounded(server.percentile(50)))
                        .put("p99Ms", rounded(server.percentile(99)))
                        .put("minMs", rounded(server.percentile(0)))
                        .put("floorP50Ms", rounded(floor.percentile(50)))
                        .put("floorP99Ms", rounded(floor.percentile(99)))
                        .put("floorMinMs", rounded(floor.percentile(0)))
                        .put("ratio", rounded(ratio));
        if (peer.isPresent()) {
            json.put("peerRuns", peer.get().count())
                    .put("peerP50Ms", rounded(peer.get().percentile(50)))
                    .put("peerP99Ms", rounded(peer.get().percentile(99)))
                    .put("peerMinMs", rounded(peer.get().percentile(0)))
                    .put("peerRatio", rounded(peer.get().median() / server.median()));
        }
        write(json);
    }

    /// What the server did in a second beside what the floor did. The p99 is what 99 of 100 reach, and in the place of the shortest
    /// time is the most.
    void rates(Subject subject, Rate rate, Stats server, Stats floor) throws IOException {
        double ratio = server.median() / floor.median();
        row(
                subject,
                server.count(),
                List.of(
                        brief(server.percentile(50)) + rate.unit,
                        brief(server.percentile(1)) + rate.unit,
                        brief(server.percentile(100)) + rate.unit),
                List.of(
                        brief(floor.percentile(50)),
                        brief(floor.percentile(1)),
                        "%.2f".formatted(ratio),
                        "",
                        ""));
        write(
                line(subject)
                        .put("runs", server.count())
                        .put("p50" + rate.key, rounded(server.percentile(50)))
                        .put("p99" + rate.key, rounded(server.percentile(1)))
                        .put("max" + rate.key, rounded(server.percentile(100)))
                        .put("floorP50" + rate.key, rounded(floor.percentile(50)))
                        .put("floorP99" + rate.key, rounded(floor.percentile(1)))
                        .put("floorMax" + rate.key, rounded(floor.percentile(100)))
                        .put("ratio", rounded(ratio)));
    }

    /// Amounts of memory in MiB, without a floor.
    void sizes(Subject subject, Stats mib) throws IOException {
        row(subject, mib.count(), millis(mib, " MiB"), List.of("", "", "", "", ""));
        write(
                line(subject)
                        .put("runs", mib.count())
                        .put("p50Mib", rounded(mib.percentile(50)))
                        .put("p99Mib", rounded(mib.percentile(99)))
                        .put("minMib", rounded(mib.percentile(0))));
    }

    /// One value that has no floor.
    void value(Subject subject, long mib) throws IOException {
        row(subject, 1, List.of(mib + " MiB", "", ""), List.of("", "", "", "", ""));
        write(line(subject).put("runs", 1).put("mib", mib));
    }

    /// Something to know about the lines that follow.
    void note(String text) {
        System.out.println("note: " + text);
    }

    /// Something that is no bad number but wrong.
    void alarm(String text) {
        alarms.add(text);
        System.out.println("ERROR: " + text);
    }

    private static void row(Subject subject, int runs, List<String> own, List<String> others) {
        var cells = new ArrayList<Object>();
        cells.add(subject.bench());
        cells.add(subject.image());
        cells.add(subject.memory() == 0 ? "-" : subject.memory() + " MiB");
        cells.add(subject.dirty() == 0 ? "-" : subject.dirty());
        cells.add(runs);
        cells.addAll(own);
        cells.addAll(others);
        cells.add(subject.target());
        System.out.printf(Locale.ROOT, ROW, cells.toArray());
    }

    private static List<String> millis(Stats stats, String unit) {
        return List.of(
                number(stats.percentile(50)) + unit,
                number(stats.percentile(99)) + unit,
                number(stats.percentile(0)) + unit);
    }

    private JsonWriter line(Subject subject) throws IOException {
        return new JsonWriter()
                .put("bench", subject.bench())
                .put("image", subject.image())
                .put("memoryMib", subject.memory())
                .put("dirtyMib", subject.dirty())
                .put("target", subject.target())
                .put("at", Instant.now())
                .put("processor", machine.processor())
                .put("cores", machine.cores())
                .put("qemu", machine.hypervisor().version())
                .put("accelerator", machine.hypervisor().accelerator())
                .put("loadAtStart", loadAtStart)
                .put("loadNow", Machine.load());
    }

    private void write(JsonWriter line) throws IOException {
        var text = new String(Json.write(line), StandardCharsets.UTF_8) + "\n";
        System.out.print(text);
        if (json.isPresent()) {
            Files.writeString(
                    json.get(), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private static String number(double value) {
        return "%.2f".formatted(value);
    }

    /// Rates have long units.
    private static String brief(double value) {
        return value < 100 ? "%.1f".formatted(value) : "%.0f".formatted(value);
    }

    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}
