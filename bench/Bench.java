import coppice.disk.Reflink;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/// The entry: `bench/run` starts it in a data directory of its own and removes what is left.
final class Bench {
    private static final List<String> NAMES =
            List.of("boot", "create", "exec", "pause", "resume", "server");
    private static final List<String> IMAGES = List.of("busybox", "debian");
    private static final int RUNS = 50;
    private static final int BOOTS = 10;
    private static final int STARTS = 5;

    private final Wanted wanted;
    private final Report report;

    /// What to measure.
    ///
    /// @param runs how often, if it was said
    private record Wanted(
            Set<String> names, List<String> images, OptionalInt runs, Optional<Path> json) {

        static Wanted parse(List<String> arguments) {
            var names = new LinkedHashSet<String>();
            var images = IMAGES;
            var runs = OptionalInt.empty();
            var json = Optional.<Path>empty();
            var words = arguments.iterator();
            while (words.hasNext()) {
                var word = words.next();
                switch (word) {
                    case "--runs" -> runs = OptionalInt.of(count(value(word, words)));
                    case "--image" -> images = List.of(oneOf(IMAGES, value(word, words)));
                    case "--json" ->
                            json = Optional.of(Path.of(value(word, words)).toAbsolutePath());
                    default -> names.add(oneOf(NAMES, word));
                }
            }
            return new Wanted(names.isEmpty() ? Set.copyOf(NAMES) : names, images, runs, json);
        }

        private static String value(String option, java.util.Iterator<String> words) {
            if (!words.hasNext()) {
                throw new IllegalArgumentException(option + " needs a value");
            }
            return words.next();
        }

        private static String oneOf(List<String> known, String word) {
            if (!known.contains(word)) {
                throw new IllegalArgumentException(
                        "'%s' is none of %s".formatted(word, String.join(", ", known)));
            }
            return word;
        }

        private static int count(String text) {
            if (!text.matches("[1-9]\\d{0,5}")) {
                throw new IllegalArgumentException(
                        "--runs takes a number, not '%s'".formatted(text));
            }
            return Integer.parseInt(text);
        }

        boolean has(String... any) {
            return List.of(any).stream().anyMatch(names::contains);
        }
    }

    private Bench(Wanted wanted, Report report) {
        this.wanted = wanted;
        this.report = report;
    }

    /// @param arguments what to measure, then `--`, then the words that run the program
    public static void main(String[] arguments) throws Exception {
        var words = List.of(arguments);
        int end = words.indexOf("--");
        try {
            var wanted = Wanted.parse(words.subList(0, end));
            var report = new Report(Machine.find(), wanted.json());
            new Bench(wanted, report).run(words.subList(end + 1, words.size()));
        } catch (IllegalArgumentException e) {
            System.err.println("bench: " + e.getMessage() + "; see ./coppice bench --help");
            System.exit(2); // tidy: this is a main program
        }
    }

    private void run(List<String> programWords) throws Exception {
        report.begin();
        try (var program = new Program(programWords)) {
            program.buildImages(imagesNeeded());
            program.start();
            if (wanted.has("boot", "create", "exec", "pause", "resume")) {
                try (var api = program.client();
                        var reflink = new Reflink()) {
                    for (var image : wanted.images()) {
                        measure(
                                new VmBenches(
                                        program.volume(), api, reflink, report, "svc/" + image));
                    }
                }
            }
            if (wanted.has("server")) {
                var server = new ServerBench(program, report);
                server.start(wanted.runs().orElse(STARTS));
                server.memory();
            }
        }
        report.end();
    }

    /// The server's memory is measured with VMs of the small one.
    private List<String> imagesNeeded() {
        var images = new ArrayList<>(wanted.images());
        if (wanted.has("server") && !images.contains("busybox")) {
            images.add("busybox");
        }
        return images;
    }

    private void measure(VmBenches vms) throws Exception {
        if (wanted.has("exec")) {
            vms.exec(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("create")) {
            vms.create(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("pause", "resume")) {
            vms.pauseAndResume(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("boot")) {
            vms.boot(wanted.runs().orElse(BOOTS));
        }
    }
}
