package coppice.store;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.flywaydb.core.Flyway;
import org.sqlite.SQLiteDataSource;

/// The tables, and how an older database gets them.
final class Schema {
    /// The number of the newest migration on the class path; a test compares the two.
    static final int VERSION = 11;

    private static final String MIGRATIONS = "classpath:coppice/store/migrations";

    private static final String NEWEST =
            "select coalesce(max(cast(version as integer)), 0) from flyway_schema_history where success";

    /// A file lock keeps other processes away but not the threads of this one.
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

    /// How long others may be at making the file that is opened.
    private static final Duration FIRST = Duration.ofSeconds(10);

    private Schema() {}

    /// Brings the database up to [#VERSION], and refuses one that is newer.
    ///
    /// Flyway takes 0.5 s to find an up-to-date database up to date (measured), a third of the time in which the server must
    /// give its first answer. So its own table is asked first. The price: a migration edited after release is noticed by
    /// Flyway only when there is another one to run.
    static void bringUpToDate(Path file, SQLiteDataSource source) throws SQLException, IOException {
        if (version(source) != VERSION) {
            migrate(file, source);
        }
    }

    static int version(SQLiteDataSource source) throws SQLException {
        try (var connection = Sqlite.openFirst(source, FIRST)) {
            var version = hasHistory(connection) ? number(connection, NEWEST) : 0;
            if (version > VERSION) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the database has version %d, but this program knows only %d; start the newer program"
                                .formatted(version, VERSION));
            }
            return version;
        }
    }

    private static void migrate(Path file, SQLiteDataSource source)
            throws SQLException, IOException {
        // Flyway has no lock of its own on SQLite: two that start at once would both create the
        // tables. The database itself is not what is locked here: closing any channel on it would
        // drop SQLite's own locks in this process.
        ONE_AT_A_TIME.lock();
        try (var channel = lockFile(file);
                var _ = channel.lock()) {
            if (version(source) != VERSION) {
                Flyway.configure().dataSource(source).locations(MIGRATIONS).load().migrate();
            }
        } finally {
            ONE_AT_A_TIME.unlock();
        }
    }

    private static FileChannel lockFile(Path file) throws IOException {
        return FileChannel.open(
                file.resolveSibling(file.getFileName() + "-migration"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
    }

    private static boolean hasHistory(Connection connection) throws SQLException {
        return number(
                        connection,
                        "select count(*) from sqlite_master where name = 'flyway_schema_history'")
                > 0;
    }

    private static int number(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            return rows.getInt(1);
        }
    }
}
