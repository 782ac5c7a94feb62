package coppice.background;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.http.BodySink;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/// Takes the body of a result: in memory while it is small, else in a file.
final class ResultBody implements BodySink, AutoCloseable {
    /// What fits into the row of the request.
    static final int SMALL = 64 << 10;

    private final Path file;
    private final Size limit;
    private final ByteArrayOutputStream small = new ByteArrayOutputStream();
    private Optional<OutputStream> large = Optional.empty();
    private long length;

    /// More was written than is kept.
    static final class TooLarge extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooLarge() {
            super("more than is kept", null, false, false);
        }
    }

    ResultBody(Path file, Size limit) {
        this.file = file;
        this.limit = limit;
    }

    @Override
    public void write(byte[] bytes, int at, int count) {
        length += count;
        if (length > limit.bytes()) {
            throw new TooLarge();
        }
        try {
            if (large.isEmpty() && length <= SMALL) {
                small.write(bytes, at, count);
            } else {
                large().write(bytes, at, count);
            }
        } catch (IOException e) {
            throw unkept(e);
        }
    }

    private OutputStream large() throws IOException {
        if (large.isEmpty()) {
            var opened =
                    Files.newOutputStream(
                            file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
            large = Optional.of(opened);
            small.writeTo(opened);
        }
        return large.get();
    }

    @Override
    public void flush() {
        // Whoever reads it reads it when it is whole.
    }

    @Override
    public void whenDraining(Runnable listener) {
        // A body that is kept has an end in sight.
    }

    long length() {
        return length;
    }

    /// All of it, if it is small; else it is in the file from here on, also through a power cut.
    Optional<byte[]> end() {
        if (large.isEmpty()) {
            return Optional.of(small.toByteArray());
        }
        try {
            large.get().close();
            try (var written = FileChannel.open(file, StandardOpenOption.WRITE)) {
                written.force(true);
            }
            try (var directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
                directory.force(true);
            }
            return Optional.empty();
        } catch (IOException e) {
            throw unkept(e);
        }
    }

    private static Failure unkept(IOException e) {
        return new Failure(Code.UNAVAILABLE, "the result could not be kept", e);
    }

    @Override
    public void close() {
        try {
            if (large.isPresent()) {
                large.get().close();
            }
        } catch (IOException _) {
            // what was to be kept is written and synced by then, or is not kept
        }
    }
}
