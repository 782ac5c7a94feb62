import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;

/// What the server writes about captures.
final class ServerLog {
    private static final Pattern STOPPED = Pattern.compile(": stopped for ([0-9.E-]+) ms");
    private final Path file;
    private long seen;

    ServerLog(Path file) {
        this.file = file;
    }

    /// What comes from now on is of interest.
    void mark() throws IOException {
        seen = Files.size(file);
    }

    /// How long a VM was stopped, by the last line since the mark that says so.
    Duration stopped(String vm) throws IOException {
        var lines = since(seen).lines().filter(line -> line.contains(" " + vm + ":")).toList();
        if (lines.stream().anyMatch(line -> line.contains("is stopped while its memory is"))) {
            throw new IOException("the server made no twin: " + lines);
        }
        for (var line : lines.reversed()) {
            var found = STOPPED.matcher(line);
            if (found.find()) {
                return Duration.ofNanos(Math.round(Double.parseDouble(found.group(1)) * 1e6));
            }
        }
        throw new IOException("the server's log does not say how long %s stood".formatted(vm));
    }

    private String since(long position) throws IOException {
        try (var in = new RandomAccessFile(file.toFile(), "r")) {
            in.seek(position);
            var bytes = new byte[(int) (in.length() - position)];
            in.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
