package coppice.store;

import java.sql.Connection;
import java.sql.SQLException;
import org.jdbi.v3.core.Jdbi;

/// One of the threads that answer reads. All statements of one read see the database at the same instant, and none can
/// change it, if the connection was opened for reading.
final class Reader implements Runnable {
    private final Connection connection;
    private final Inbox inbox;

    Reader(Connection connection, Inbox inbox) {
        this.connection = connection;
        this.inbox = inbox;
    }

    @Override
    public void run() {
        var jdbi = Sqlite.jdbi(connection);
        try (connection) {
            for (var next = inbox.take(); next.isPresent(); next = inbox.take()) {
                if (next.get().begin()) {
                    answer(next.get(), jdbi);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException("a reader of the store has ended", e);
        }
    }

    private void answer(Unit<?> unit, Jdbi jdbi) {
        try {
            Sqlite.execute(connection, "begin deferred");
            unit.run(jdbi);
            Sqlite.execute(connection, "rollback");
            unit.answer();
        } catch (SQLException | RuntimeException | Error e) {
            unit.fail(unit.problem().orElseGet(() -> Sqlite.explain(e)));
        }
    }
}
