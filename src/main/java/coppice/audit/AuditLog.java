package coppice.audit;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps entries as lines of JSON in files of limited size: `audit.jsonl`, and older ones `audit.1.jsonl` and so on, of which the oldest
/// are removed. An entry is in the file when [#write] returns, so a server that is killed then loses none; a power cut may take the last
/// few. An entry that cannot be written is reported in the log, and the call is answered all the same.
public final class AuditLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

    private final LineFiles files;

    private AuditLog(LineFiles files) {
        this.files = files;
    }

    /// @param directory made if it is not there
    /// @param fileSize how large a file may become
    /// @param files how many there may be
    public static AuditLog open(Path directory, Size fileSize, int files) {
        return new AuditLog(LineFiles.open(place(directory), fileSize, files));
    }

    private static LineFiles.Place place(Path directory) {
        return new LineFiles.Place(directory, "audit", "jsonl");
    }

    public synchronized void write(AuditEntry entry) {
        var line = new String(Json.write(entry.toJson()), StandardCharsets.UTF_8);
        try {
            files.append(line + "\n");
        } catch (IOException e) {
            LOG.error("the audit log cannot be written; missing is {}", line, e);
        }
    }

    /// The last lines that are wanted, oldest first.
    public static List<String> last(Path directory, int count, Predicate<String> isWanted) {
        Deque<String> last = new ArrayDeque<>();
        for (var file : place(directory).oldestFirst()) {
            try (var lines = Files.lines(file)) {
                lines.filter(isWanted)
                        .forEach(
                                line -> {
                                    last.addLast(line);
                                    if (last.size() > count) {
                                        last.removeFirst();
                                    }
                                });
            } catch (IOException | UncheckedIOException e) {
                throw new Failure(Code.UNAVAILABLE, "cannot read %s".formatted(file), e);
            }
        }
        return List.copyOf(last);
    }

    @Override
    public synchronized void close() {
        try {
            files.close();
        } catch (IOException e) {
            LOG.warn("the audit log did not close", e);
        }
    }

    /// For a process beside the server: it adds lines to the server's file and begins none.
    public static AuditLog beside(Path directory) {
        return open(directory, new Size(Long.MAX_VALUE), 1);
    }

    /// What it keeps without a setting: 640 MiB.
    public static AuditLog usual(Path directory) {
        return open(directory, Size.ofMib(64), 10);
    }

    /// Whether a line is of that account.
    public static Predicate<String> of(Optional<UUID> account) {
        return line ->
                account.isEmpty()
                        || Json.parse(line.getBytes(StandardCharsets.UTF_8))
                                .string("account")
                                .equals(account.map(UUID::toString));
    }
}
