import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// A QEMU that runs, of whoever it is.
///
/// @param words its command line
record RunningQemu(long pid, List<String> words) {
    private static final Pattern TAP = Pattern.compile("(,ifname=)[^,]*");

    /// The one whose machine has this name.
    static RunningQemu named(String name) throws IOException {
        return all().stream()
                .filter(qemu -> qemu.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException(name + " has no QEMU"));
    }

    /// How many have files under a directory.
    static long countUnder(Path directory) throws IOException {
        return all().stream()
                .filter(
                        qemu ->
                                qemu.words().stream()
                                        .anyMatch(word -> word.contains(directory + "/")))
                .count();
    }

    private static List<RunningQemu> all() throws IOException {
        var found = new ArrayList<RunningQemu>();
        try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (var process : processes) {
                var words = words(process);
                if (words.getFirst().contains("qemu-system-") && words.contains("-name")) {
                    found.add(
                            new RunningQemu(
                                    Long.parseLong(process.getFileName().toString()), words));
                }
            }
        }
        return found;
    }

    private static List<String> words(Path process) {
        try {
            var line = Files.readAllBytes(process.resolve("cmdline"));
            return List.of(new String(line, StandardCharsets.UTF_8).split("\0"));
        } catch (IOException e) {
            return List.of(""); // it has just ended
        }
    }

    private String name() {
        return words.get(words.indexOf("-name") + 1);
    }

    /// Its command line for a machine of another name, with its files in another directory and another tap.
    List<String> commandFor(String name, Path from, Path to, String tap) {
        var old = name();
        return words.stream()
                .map(word -> word.replace(from.toString(), to.toString()))
                .map(word -> word.equals(old) ? name : word)
                .map(
                        word ->
                                word.startsWith("tap,")
                                        ? TAP.matcher(word).replaceAll("$1" + tap)
                                        : word)
                .toList();
    }
}
