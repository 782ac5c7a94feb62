package coppice.store;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handles;
import org.jdbi.v3.core.Jdbi;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/// What is particular to SQLite: how a file is opened, and what its error codes mean to us.
final class Sqlite {
    /// What the write-ahead log is cut down to after a checkpoint: one long reader can let it grow far beyond.
    private static final int LOG_BYTES = 64 << 20;

    private static final String UNIQUE_IN_POSTGRESQL = "23505";
    private static final String REFERENCE_IN_POSTGRESQL = "23503";

    private static final Duration RETRY = Duration.ofMillis(5);

    private Sqlite() {}

    /// Where the driver unpacks its native library, 1 MiB for each process. In the system's directory for temporary files, every process
    /// that is killed would leave one for ever.
    ///
    /// @param directory of the present process only: what is in it is removed. To be called before any store is opened.
    static void unpackInto(Path directory) {
        try {
            Files.createDirectories(directory);
            try (var left = Files.newDirectoryStream(directory)) {
                for (var file : left) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be made ready".formatted(directory), e);
        }
        System.setProperty("org.sqlite.tmpdir", directory.toAbsolutePath().toString());
    }

    static SQLiteDataSource source(Path file, StoreLimits limits) {
        var config = new SQLiteConfig();
        config.setBusyTimeout(Math.toIntExact(limits.lockWait().toMillis()));
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
        config.setJournalSizeLimit(LOG_BYTES);
        config.enforceForeignKeys(true);
        var source = new SQLiteDataSource(config);
        source.setUrl("jdbc:sqlite:" + file.toAbsolutePath());
        return source;
    }

    /// Opens a file that may be new. Of several that do so at once one gives it its journal mode; the others are told that it is locked,
    /// and at once: for this SQLite does not wait.
    static Connection openFirst(SQLiteDataSource source, Duration patience) throws SQLException {
        var deadline = Deadline.in(patience);
        while (true) {
            try {
                return source.getConnection();
            } catch (SQLiteException e) {
                if (e.getResultCode() != SQLiteErrorCode.SQLITE_BUSY || deadline.isPast()) {
                    throw e;
                }
                LockSupport.parkNanos(RETRY.toNanos());
            }
        }
    }

    static Connection openForReading(SQLiteDataSource source) throws SQLException {
        var connection = source.getConnection();
        try {
            execute(connection, "pragma query_only = on");
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /// Handles over the one connection of a thread, which stays open; the thread itself begins and ends transactions.
    static Jdbi jdbi(Connection connection) {
        var jdbi =
                Jdbi.create(
                        new ConnectionFactory() {
                            @Override
                            public Connection openConnection() {
                                return connection;
                            }

                            @Override
                            public void closeConnection(Connection connection) {}
                        });
        jdbi.setTransactionHandler(new WithinUnit());
        jdbi.getConfig(Handles.class).setForceEndTransactions(false);
        return jdbi;
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /// A [Failure] for the caller when the trouble lies with the disk or the file and not with the work; else `e` itself.
    static Throwable explain(Throwable e) {
        if (e instanceof Failure) {
            return e;
        }
        return causes(e)
                .flatMap(cause -> cause instanceof SQLiteException s ? Stream.of(s) : Stream.of())
                .findFirst()
                .flatMap(s -> sentence(s.getResultCode()))
                .<Throwable>map(sentence -> new Failure(Code.UNAVAILABLE, sentence, e))
                .orElse(e);
    }

    static boolean isUniqueViolation(Throwable e) {
        return isViolation(e, Sqlite::isUnique, UNIQUE_IN_POSTGRESQL);
    }

    static boolean isMissingReference(Throwable e) {
        return isViolation(
                e,
                code -> code == SQLiteErrorCode.SQLITE_CONSTRAINT_FOREIGNKEY,
                REFERENCE_IN_POSTGRESQL);
    }

    private static boolean isViolation(
            Throwable e, Predicate<SQLiteErrorCode> code, String inPostgresql) {
        return causes(e)
                .anyMatch(
                        cause ->
                                switch (cause) {
                                    case SQLiteException s -> code.test(s.getResultCode());
                                    case SQLException s -> inPostgresql.equals(s.getSQLState());
                                    default -> false;
                                });
    }

    private static boolean isUnique(SQLiteErrorCode code) {
        return code == SQLiteErrorCode.SQLITE_CONSTRAINT_UNIQUE
                || code == SQLiteErrorCode.SQLITE_CONSTRAINT_PRIMARYKEY;
    }

    private static Stream<Throwable> causes(Throwable e) {
        return Stream.iterate(e, cause -> cause != null, Throwable::getCause);
    }

    private static Optional<String> sentence(SQLiteErrorCode code) {
        // The low byte is the kind of error, the rest its details.
        return switch (SQLiteErrorCode.getErrorCode(code.code & 0xff)) {
            case SQLITE_FULL ->
                    Optional.of("the disk of the database is full; free some space and try again");
            case SQLITE_IOERR ->
                    Optional.of(
                            "the disk of the database has failed or is full; check it and try again");
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL ->
                    Optional.of("another process keeps the database locked; try again");
            case SQLITE_NOMEM ->
                    Optional.of("there is not enough memory for the database; try again");
            case SQLITE_INTERRUPT ->
                    Optional.of("the database took too long; try again when it is less busy");
            case SQLITE_CANTOPEN ->
                    Optional.of(
                            "the database cannot be opened; check that its directory exists and is writable");
            default -> Optional.empty();
        };
    }
}
