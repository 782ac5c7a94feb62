package coppice.background;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.http.ResponseBody;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The bodies of results that are too large for rows: a file each, named by the request.
final class ResultFiles {
    private static final Logger LOG = LoggerFactory.getLogger(ResultFiles.class);
    private static final int BUFFER = 64 << 10;

    private final Path directory;

    /// Makes the directory, for nobody else to read.
    ResultFiles(Path directory) {
        this.directory = directory;
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectory(
                        directory,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwx------")));
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "cannot make %s".formatted(directory), e);
        }
    }

    ResultBody body(BackgroundId id, Size limit) {
        return new ResultBody(file(id), limit);
    }

    /// The body is opened at once: it is whole even if its time is over while it is sent.
    ResponseBody read(BackgroundId id, long length) {
        try {
            return new ResponseBody.Stream(
                    OptionalLong.of(length), new Copying(Files.newInputStream(file(id))));
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the result cannot be read; try again", e);
        }
    }

    void delete(BackgroundId id) {
        delete(file(id));
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("cannot delete {}: {}", file, e.getMessage());
        }
    }

    /// Deletes what belongs to nobody.
    void sweep(Predicate<BackgroundId> isKnown) {
        try (var files = Files.list(directory)) {
            files.filter(
                            file ->
                                    BackgroundId.parse(file.getFileName().toString())
                                            .filter(isKnown)
                                            .isEmpty())
                    .forEach(ResultFiles::delete);
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "cannot list %s".formatted(directory), e);
        }
    }

    private Path file(BackgroundId id) {
        return directory.resolve(id.text());
    }

    private record Copying(InputStream bytes) implements BodyWriter {
        @Override
        public void write(BodySink sink) {
            var buffer = new byte[BUFFER];
            try {
                for (int n = bytes.read(buffer); n > 0; n = bytes.read(buffer)) {
                    sink.write(buffer, 0, n);
                }
            } catch (IOException e) {
                throw new Failure(Code.UNAVAILABLE, "the result cannot be read; try again", e);
            }
        }

        @Override
        public void close() {
            try {
                bytes.close();
            } catch (IOException e) {
                LOG.debug("a result did not close", e);
            }
        }
    }
}
