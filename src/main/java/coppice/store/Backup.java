package coppice.store;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteDataSource;

/// A consistent copy of the database while it is in use, under its final name only when it is complete and on disk.
final class Backup {
    /// How many steps of SQLite's machine lie between two looks at the clock: a few milliseconds.
    private static final int STEPS_BETWEEN_LOOKS = 100_000;

    private Backup() {}

    static void make(SQLiteDataSource source, Path target, Deadline deadline)
            throws SQLException, IOException {
        var partial = target.resolveSibling(target.getFileName() + ".partial");
        if (Files.exists(target)) {
            throw taken(target);
        }
        try {
            PrivateFile.create(partial);
        } catch (FileAlreadyExistsException _) {
            throw taken(partial);
        }
        try {
            copy(source, partial, deadline);
            flush(partial);
            Files.move(partial, target);
            flush(target.toAbsolutePath().getParent());
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    private static void copy(SQLiteDataSource source, Path partial, Deadline deadline)
            throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.prepareStatement("vacuum into ?")) {
            ProgressHandler.setHandler(connection, STEPS_BETWEEN_LOOKS, stopAt(deadline));
            statement.setString(1, partial.toString());
            statement.execute();
            ProgressHandler.clearHandler(connection);
        }
    }

    private static ProgressHandler stopAt(Deadline deadline) {
        return new ProgressHandler() {
            @Override
            protected int progress() {
                return deadline.isPast() ? 1 : 0;
            }
        };
    }

    /// `vacuum into` does not wait for the disk.
    private static void flush(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static Failure taken(Path path) {
        return new Failure(
                Code.CONFLICT, "%s exists; name another file or remove it".formatted(path));
    }
}
