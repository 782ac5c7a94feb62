package coppice.audit;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Lines in files of limited size: `name.kind` is the youngest, then come `name.1.kind` and so on, of which the oldest are removed. Only
/// root reads them. Not thread-safe.
final class LineFiles implements AutoCloseable {
    private final Place place;
    private final Size fileSize;
    private final int files;
    private FileChannel file;

    /// Where they are and what they are called.
    record Place(Path directory, String name, String kind) {
        Path path(int age) {
            return directory.resolve(
                    age == 0 ? name + "." + kind : "%s.%d.%s".formatted(name, age, kind));
        }

        List<Path> oldestFirst() {
            int oldest =
                    IntStream.iterate(1, age -> age + 1)
                            .filter(age -> !Files.exists(path(age)))
                            .findFirst()
                            .orElseThrow();
            return Stream.iterate(oldest - 1, age -> age >= 0, age -> age - 1)
                    .map(this::path)
                    .filter(Files::exists)
                    .toList();
        }
    }

    private LineFiles(Place place, Size fileSize, int files) throws IOException {
        this.place = place;
        this.fileSize = fileSize;
        this.files = files;
        if (!Files.isDirectory(place.directory)) {
            Files.createDirectory(place.directory, mode("rwx------"));
        }
        this.file = openFile();
    }

    /// @param place its directory is made if it is not there
    /// @param fileSize how large a file may become; larger only by what is written at once
    /// @param files how many there may be
    static LineFiles open(Place place, Size fileSize, int files) {
        try {
            return new LineFiles(place, fileSize, files);
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "cannot write %s".formatted(place.directory), e);
        }
    }

    private static FileAttribute<?> mode(String text) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text));
    }

    private FileChannel openFile() throws IOException {
        return FileChannel.open(
                place.path(0),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                mode("rw-------"));
    }

    /// Adds one or more lines, each with its end.
    void append(String lines) throws IOException {
        var bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
        if (file.size() + bytes.remaining() > fileSize.bytes() && file.size() > 0) {
            rotate();
        }
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }

    private void rotate() throws IOException {
        for (int age = files - 1; age > 0; age--) {
            var younger = place.path(age - 1);
            if (Files.exists(younger)) {
                Files.move(younger, place.path(age), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        file.close();
        file = openFile();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
