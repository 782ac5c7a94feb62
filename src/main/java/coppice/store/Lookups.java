package coppice.store;

import coppice.base.Deadline;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/// Answers [Lookup]s on the threads of their callers, with statements that are kept ready. To hand such a question to another thread and
/// back takes several times as long as to answer it.
///
/// The callers may be virtual threads, though SQLite holds their carrier: it reads a few pages that are in memory, which takes some
/// microseconds, and never waits for a lock here.
final class Lookups {
    private static final int MAX_READY = 32;

    private final ArrayBlockingQueue<Desk> free;
    private int open;

    /// A connection, used by one caller at a time, and the statements that are ready on it.
    private record Desk(Connection connection, Map<Lookup<?>, PreparedStatement> ready) {

        PreparedStatement statement(Lookup<?> lookup) throws SQLException {
            var known = ready.get(lookup);
            if (known != null) {
                return known;
            }
            if (ready.size() >= MAX_READY) {
                throw new IllegalStateException("lookups are constants: " + lookup.sql());
            }
            var prepared = connection.prepareStatement(lookup.sql());
            ready.put(lookup, prepared);
            return prepared;
        }

        /// The driver makes a statement that failed once unusable for ever.
        void forget(Lookup<?> lookup) throws SQLException {
            var failed = ready.remove(lookup);
            if (failed != null) {
                failed.close();
            }
        }
    }

    /// @param connections for reading; closed with this
    Lookups(List<Connection> connections) throws SQLException {
        this.free = new ArrayBlockingQueue<>(connections.size());
        for (var connection : connections) {
            Sqlite.execute(connection, "pragma busy_timeout = 0");
            free.add(new Desk(connection, new HashMap<>()));
        }
        this.open = connections.size();
    }

    /// @throws SQLException when it cannot be answered here and now: ask a reader of the store
    <T> Optional<T> ask(Lookup<T> lookup, List<String> key) throws SQLException {
        var desk = free.poll();
        if (desk == null) {
            throw new SQLException("no connection is free");
        }
        try {
            return lookup.ask(desk.statement(lookup), key);
        } catch (SQLException e) {
            desk.forget(lookup);
            throw e;
        } finally {
            free.add(desk);
        }
    }

    /// Nothing is answered here any more. A connection that is in use beyond the deadline stays open.
    synchronized void close(Deadline deadline) throws SQLException, InterruptedException {
        while (open > 0) {
            var desk = free.poll(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
            if (desk == null) {
                return;
            }
            open--;
            desk.connection.close();
        }
    }
}
