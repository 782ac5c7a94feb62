package coppice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Failure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Compares the compiled classes with the package map. An arrow points to a smaller rank, and only to a package listed, so there are no
/// cycles. Packages of one rank do not know each other. A new package, and a new library, gets its line here first. A constant that the
/// compiler copies leaves no arrow.
class BoundariesTest {
    /// `ranks 0-9` are all packages with such a rank. A package may always use `base`. Some are still to come.
    private static final String MAP =
            """
            rank | packages        | may use
            0    | base            |
            1    | json            |
            1    | http            |
            1    | process         |
            2    | store           | json
            2    | audit           | json
            2    | guest           | json
            3    | identity        | store json
            3    | dns             | store json
            3    | logs            | store json
            3    | node            | store json process http
            3    | disk            | store json process
            3    | qemu            | json process
            4    | background      | identity store json http
            4    | idempotency     | identity store json http
            4    | network         | identity node store json process
            4    | certificates    | dns store json http
            4    | git             | identity store json process http
            5    | fabric          | network identity dns process json
            6    | vm              | qemu disk guest dns network fabric node logs identity store json process
            6    | hardware        | network fabric store json process http
            7    | edge            | vm network fabric certificates http store json
            7    | ssh             | vm guest network identity http store json
            7    | scripts         | vm git logs store json
            8    | websites        | edge scripts vm git dns certificates logs store json
            9    | cron            | websites store json
            10   | api             | http json store identity background audit idempotency
            10   | dashboard       | http json store
            11   | api.v5          | api ranks 0-9
            11   | api.legacy      | api ranks 0-9
            11   | api.signin      | api http json identity
            11   | metrics         | api ranks 0-9
            12   | main            | ranks 0-11
            12   | cli             | json http
            """;

    /// Which packages may use a library.
    private static final String LIBRARIES =
            """
            library           | for
            org.eclipse.jetty | http
            tools.jackson     | json qemu
            org.jdbi          | store identity network vm background idempotency
            org.flywaydb      | store
            org.sqlite        | store
            org.xbill.DNS     | dns
            org.apache.sshd   | ssh
            picocli           | main
            org.slf4j         | ranks 0-12
            """;

    private static final Pattern ARROW = Pattern.compile("\\s+(\\S+)\\s+-> (\\S+) .*");
    private static final Pattern OF_THE_JDK = Pattern.compile("(java|javax|jdk)\\..*");
    private static final Pattern RANKS = Pattern.compile("ranks (\\d+)-(\\d+)");

    private static final List<Arrow> ARROWS = arrows();

    private final Map<String, Integer> ranks = new LinkedHashMap<>();
    private final Map<String, Set<String>> mayUse = new LinkedHashMap<>();
    private final Map<String, Set<String>> libraries = new LinkedHashMap<>();

    /// A class that uses another.
    private record Arrow(String from, String to) {
        @Override
        public String toString() {
            return from + " -> " + to;
        }
    }

    BoundariesTest() {
        rows(MAP).forEach(row -> ranks.put(row[1], Integer.valueOf(row[0])));
        rows(MAP).forEach(row -> mayUse.put(row[1], packages(row[2])));
        rows(LIBRARIES).forEach(row -> libraries.put(row[0], packages(row[1])));
    }

    @Test
    void inTheMapEveryArrowPointsToASmallerRank() {
        require(
                mayUse.entrySet().stream()
                        .flatMap(
                                entry ->
                                        entry.getValue().stream()
                                                .map(to -> new Arrow(entry.getKey(), to)))
                        .filter(arrow -> rank(arrow.to()) >= rank(arrow.from()))
                        .map(arrow -> "%s: not to a smaller rank".formatted(arrow)));
    }

    @Test
    void everyPackageIsInTheMap() {
        require(
                ARROWS.stream()
                        .map(arrow -> packageOf(arrow.from()))
                        .distinct()
                        .filter(name -> !ranks.containsKey(name))
                        .map("%s: give it a rank and what it may use, in this test"::formatted));
    }

    @Test
    void packagesUseOnlyWhatTheMapAllows() {
        require(
                ARROWS.stream()
                        .filter(arrow -> arrow.to().startsWith("coppice."))
                        .filter(arrow -> !isAllowed(packageOf(arrow.from()), packageOf(arrow.to())))
                        .map(
                                arrow ->
                                        "%s: %s may not use %s; let %2$s declare a listener, or move the type"
                                                .formatted(
                                                        arrow,
                                                        packageOf(arrow.from()),
                                                        packageOf(arrow.to()))));
    }

    @Test
    void aLibraryIsUsedOnlyByItsPackages() {
        require(
                ARROWS.stream()
                        .filter(arrow -> !arrow.to().startsWith("coppice."))
                        .filter(arrow -> !OF_THE_JDK.matcher(arrow.to()).matches())
                        .filter(arrow -> !isLibraryAllowed(packageOf(arrow.from()), arrow.to()))
                        .map("%s: hide the library behind a type of its package"::formatted));
    }

    private static void require(Stream<String> findings) {
        assertEquals("", findings.sorted().collect(Collectors.joining("\n")));
    }

    private boolean isAllowed(String from, String to) {
        return to.equals("base") || mayUse.getOrDefault(from, Set.of()).contains(to);
    }

    private boolean isLibraryAllowed(String from, String type) {
        return libraries.entrySet().stream()
                .anyMatch(
                        library ->
                                type.startsWith(library.getKey() + ".")
                                        && library.getValue().contains(from));
    }

    private int rank(String name) {
        return ranks.computeIfAbsent(
                name,
                missing -> {
                    throw new IllegalStateException(
                            "the map uses '%s' and has no line for it".formatted(missing));
                });
    }

    private static List<String[]> rows(String table) {
        return table.lines()
                .skip(1)
                .map(line -> line.split("\\|", -1))
                .map(cells -> Stream.of(cells).map(String::strip).toArray(String[]::new))
                .toList();
    }

    private Set<String> packages(String cell) {
        var spans = RANKS.matcher(cell);
        var named = Stream.of(spans.replaceAll("").split(" +")).filter(name -> !name.isEmpty());
        var ranked =
                RANKS.matcher(cell)
                        .results()
                        .flatMap(
                                span ->
                                        between(
                                                Integer.parseInt(span.group(1)),
                                                Integer.parseInt(span.group(2))));
        return Stream.concat(named, ranked).collect(Collectors.toUnmodifiableSet());
    }

    private Stream<String> between(int least, int most) {
        return ranks.keySet().stream().filter(name -> rank(name) >= least && rank(name) <= most);
    }

    /// `api.v5` for `coppice.api.v5.VmRoutes`.
    private static String packageOf(String type) {
        return type.replaceFirst("^coppice\\.", "").replaceFirst("\\.[^.]+$", "");
    }

    /// Every use of a class by a class of another package.
    private static List<Arrow> arrows() {
        var out = new StringWriter();
        int status =
                ToolProvider.findFirst("jdeps")
                        .orElseThrow()
                        .run(
                                new PrintWriter(out),
                                new PrintWriter(out),
                                "-verbose:class",
                                "-filter:package",
                                classes().toString());
        assertEquals(0, status, out.toString());
        return out.toString()
                .lines()
                .map(ARROW::matcher)
                .filter(arrow -> arrow.matches())
                .map(arrow -> new Arrow(arrow.group(1), arrow.group(2)))
                .toList();
    }

    private static Path classes() {
        try {
            return Path.of(
                    Failure.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
