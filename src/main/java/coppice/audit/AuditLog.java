package coppice.audit;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps entries as lines of JSON in files of limited size: `audit.jsonl`, and older ones `audit.1.jsonl` and so on, of which the oldest
/// are removed. An entry is in the file when [#write] returns, so a server that is killed then loses none; a power cut may take the last
/// few. An entry that cannot be written is reported in the log, and the call is answered all the same.
public final class AuditLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

    private final Path directory;
    private final Size fileSize;
    private final int files;
    private FileChannel file;

    private AuditLog(Path directory, Size fileSize, int files) throws IOException {
        this.directory = directory;
        this.fileSize = fileSize;
        this.files = files;
        if (!Files.isDirectory(directory)) {
            Files.createDirectory(directory, mode("rwx------"));
        }
        this.file = openFile();
    }

    /// @param directory made if it is not there
    /// @param fileSize how large a file may become
    /// @param files how many there may be
    public static AuditLog open(Path directory, Size fileSize, int files) {
        try {
            return new AuditLog(directory, fileSize, files);
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "cannot write %s".formatted(directory), e);
        }
    }

    private static FileAttribute<?> mode(String text) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text));
    }

    private FileChannel openFile() throws IOException {
        return FileChannel.open(
                path(directory, 0),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                mode("rw-------"));
    }

    public synchronized void write(AuditEntry entry) {
        var line = new String(Json.write(entry.toJson()), StandardCharsets.UTF_8) + "\n";
        var bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        try {
            if (file.size() + bytes.remaining() > fileSize.bytes() && file.size() > 0) {
                rotate();
            }
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
        } catch (IOException e) {
            LOG.error("the audit log cannot be written; missing is {}", line.strip(), e);
        }
    }

    private void rotate() throws IOException {
        for (int age = files - 1; age > 0; age--) {
            var younger = path(directory, age - 1);
            if (Files.exists(younger)) {
                Files.move(younger, path(directory, age), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        file.close();
        file = openFile();
    }

    private static Path path(Path directory, int age) {
        return directory.resolve(age == 0 ? "audit.jsonl" : "audit.%d.jsonl".formatted(age));
    }

    /// The last lines that are wanted, oldest first.
    public static List<String> last(Path directory, int count, Predicate<String> isWanted) {
        Deque<String> last = new ArrayDeque<>();
        for (var file : oldestFirst(directory)) {
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

    private static List<Path> oldestFirst(Path directory) {
        int oldest =
                IntStream.iterate(1, age -> age + 1)
                        .filter(age -> !Files.exists(path(directory, age)))
                        .findFirst()
                        .orElseThrow();
        return Stream.iterate(oldest - 1, age -> age >= 0, age -> age - 1)
                .map(age -> path(directory, age))
                .filter(Files::exists)
                .toList();
    }

    @Override
    public synchronized void close() {
        try {
            file.close();
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
