import coppice.json.Json;
import coppice.json.JsonWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/// Says what was measured: a line of a table for people, and a line of JSON.
final class Report {
    private static final String ROW = "%-14s %-12s %9s %5s %9s %9s %9s %10s %10s %6s  %s%n";

    private final Machine machine;
    private final Optional<Path> json;
    private final double loadAtStart;

    /// What was measured, on what.
    ///
    /// @param image the guest image, or `-`
    /// @param memory of the guest, in MiB; 0 without a guest
    /// @param target the highest ratio to the floor, or the highest value, in words; empty without one
    record Subject(String bench, String image, long memory, String target) {}

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
                "N",
                "p50 ms",
                "p99 ms",
                "min ms",
                "floor p50",
                "floor p99",
                "ratio",
                "target");
    }

    void end() throws IOException {
        System.out.printf(Locale.ROOT, "load average at end: %.2f%n", Machine.load());
    }

    /// Times of the server beside those of the floor.
    void times(Subject subject, Stats server, Stats floor) throws IOException {
        double ratio = server.millis(50) / floor.millis(50);
        System.out.printf(
                ROW,
                subject.bench(),
                subject.image(),
                memory(subject),
                server.count(),
                number(server.millis(50)),
                number(server.millis(99)),
                number(server.minMillis()),
                number(floor.millis(50)),
                number(floor.millis(99)),
                "%.2f".formatted(ratio),
                subject.target());
        write(
                line(subject)
                        .put("runs", server.count())
                        .put("p50Ms", rounded(server.millis(50)))
                        .put("p99Ms", rounded(server.millis(99)))
                        .put("minMs", rounded(server.minMillis()))
                        .put("floorP50Ms", rounded(floor.millis(50)))
                        .put("floorP99Ms", rounded(floor.millis(99)))
                        .put("floorMinMs", rounded(floor.minMillis()))
                        .put("ratio", rounded(ratio)));
    }

    /// One value that has no floor.
    void value(Subject subject, long mib) throws IOException {
        System.out.printf(
                ROW,
                subject.bench(),
                subject.image(),
                memory(subject),
                1,
                mib + " MiB",
                "",
                "",
                "",
                "",
                "",
                subject.target());
        write(line(subject).put("runs", 1).put("mib", mib));
    }

    private JsonWriter line(Subject subject) throws IOException {
        return new JsonWriter()
                .put("bench", subject.bench())
                .put("image", subject.image())
                .put("memoryMib", subject.memory())
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

    private static String memory(Subject subject) {
        return subject.memory() == 0 ? "-" : subject.memory() + " MiB";
    }

    private static String number(double millis) {
        return "%.2f".formatted(millis);
    }

    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}
