import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/// What to measure.
///
/// @param runs how often, if it was said
/// @param memories sizes of the guests of the group `capture`, in MiB
/// @param dirty how much those guests write before each capture, in MiB
/// @param peer whether libvirt is measured too
/// @param size of the file of `files`, in MiB
/// @param seconds of `api-load`
record Wanted(
        Set<String> names,
        List<String> images,
        OptionalInt runs,
        Optional<Path> json,
        List<Integer> memories,
        List<Integer> dirty,
        boolean peer,
        int size,
        int seconds) {
    static final List<String> OF_VMS =
            List.of("boot", "create", "exec", "exec-many", "files", "terminal", "pause", "resume");
    static final String SERVER = "server";
    static final List<String> OF_CAPTURE =
            List.of(
                    "snapshot-stop",
                    "fork-stop",
                    "pause-dirty",
                    "fork-first-command",
                    "fork-8",
                    "create-from-pool",
                    "fork-memory");
    static final List<String> OF_NETWORK =
            List.of(
                    "net-guests",
                    "net-host",
                    "net-tunnel",
                    "net-connect",
                    "evaluate",
                    "rule",
                    "rule-others");
    static final List<String> OF_API =
            List.of("api-get", "api-load", "api-list-identities", "api-list-vms");
    private static final String API = "api";
    private static final String CAPTURE = "capture";
    private static final String NETWORK = "network";
    private static final List<String> IMAGES = List.of("busybox", "debian");
    private static final List<Integer> MEMORIES = List.of(512, 4096);
    private static final List<Integer> DIRTY = List.of(10, 100, 1000);
    private static final int SIZE = 64;

    /// What one request may have.
    private static final int MAX_SIZE = 256;

    private static final int SECONDS = 60;

    /// The times of all calls are kept.
    private static final int MAX_SECONDS = 600;

    Wanted {
        names = Set.copyOf(names);
        images = List.copyOf(images);
        memories = List.copyOf(memories);
        dirty = List.copyOf(dirty);
    }

    static Wanted parse(List<String> arguments) {
        var names = new LinkedHashSet<String>();
        var images = IMAGES;
        var runs = OptionalInt.empty();
        var json = Optional.<Path>empty();
        var memories = MEMORIES;
        var dirty = DIRTY;
        boolean peer = false;
        int size = SIZE;
        int seconds = SECONDS;
        var words = arguments.iterator();
        while (words.hasNext()) {
            var word = words.next();
            switch (word) {
                case "--runs" -> runs = OptionalInt.of(number(word, words));
                case "--image" -> images = List.of(oneOf(IMAGES, value(word, words)));
                case "--json" -> json = Optional.of(Path.of(value(word, words)).toAbsolutePath());
                case "--memory" -> memories = List.of(oneOf(MEMORIES, number(word, words)));
                case "--dirty" -> dirty = List.of(number(word, words));
                case "--peer" -> peer = true;
                case "--size" -> size = atMost(MAX_SIZE, word, words);
                case "--seconds" -> seconds = atMost(MAX_SECONDS, word, words);
                default -> names.addAll(namesOf(word));
            }
        }
        if (names.isEmpty()) {
            names.addAll(OF_VMS);
            names.add(SERVER);
        }
        return new Wanted(names, images, runs, json, memories, dirty, peer, size, seconds);
    }

    private static List<String> namesOf(String word) {
        var known = new LinkedHashSet<>(OF_VMS);
        known.add(SERVER);
        known.addAll(OF_CAPTURE);
        known.addAll(OF_NETWORK);
        known.addAll(OF_API);
        return switch (word) {
            case CAPTURE -> OF_CAPTURE;
            case NETWORK -> OF_NETWORK;
            case API -> OF_API;
            default -> {
                if (!known.contains(word)) {
                    known.addAll(List.of(CAPTURE, NETWORK, API));
                }
                yield List.of(oneOf(List.copyOf(known), word));
            }
        };
    }

    private static String value(String option, Iterator<String> words) {
        if (!words.hasNext()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return words.next();
    }

    private static <T> T oneOf(List<T> known, T word) {
        if (!known.contains(word)) {
            throw new IllegalArgumentException("'%s' is none of %s".formatted(word, known));
        }
        return word;
    }

    private static int number(String option, Iterator<String> words) {
        var text = value(option, words);
        if (!text.matches("[1-9]\\d{0,5}")) {
            throw new IllegalArgumentException(
                    "%s takes a number, not '%s'".formatted(option, text));
        }
        return Integer.parseInt(text);
    }

    private static int atMost(int most, String option, Iterator<String> words) {
        int number = number(option, words);
        if (number > most) {
            throw new IllegalArgumentException("%s takes at most %d".formatted(option, most));
        }
        return number;
    }

    boolean has(String name) {
        return names.contains(name);
    }

    boolean hasAny(List<String> any) {
        return any.stream().anyMatch(names::contains);
    }
}
