package coppice.store;

import coppice.base.Code;
import coppice.base.Failure;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Jdbi;

/// The only thread that changes the database. It commits together what waits together: one flush to disk serves the whole group.
///
/// Each unit of a group runs between savepoints, so that one that fails is taken back alone. No unit is answered before the
/// group is committed, not even a failed one: what it failed on may be the row of a neighbour that then is not stored.
final class Writer implements Runnable {
    private final Connection connection;
    private final Inbox inbox;
    private final int groupLimit;
    private final Changes changes;

    /// @param changes counted after each group, before its callers hear of it
    Writer(Connection connection, Inbox inbox, int groupLimit, Changes changes) {
        this.connection = connection;
        this.inbox = inbox;
        this.groupLimit = groupLimit;
        this.changes = changes;
    }

    @Override
    public void run() {
        try (connection) {
            var jdbi = Sqlite.jdbi(connection);
            for (var next = inbox.take(); next.isPresent(); next = inbox.take()) {
                commitTogether(next.get(), jdbi);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the store's writer has ended", e);
        } finally {
            inbox.close();
            for (var left = inbox.poll(); left.isPresent(); left = inbox.poll()) {
                left.get()
                        .fail(
                                new Failure(
                                        Code.UNAVAILABLE,
                                        "the store has ended; restart the server"));
            }
        }
    }

    private void commitTogether(Unit<?> first, Jdbi jdbi) {
        var group = new ArrayList<Unit<?>>();
        try {
            execute("begin immediate");
            for (Optional<Unit<?>> next = Optional.of(first);
                    next.isPresent();
                    next = more(group)) {
                if (next.get().begin()) {
                    group.add(next.get());
                    runApart(next.get(), jdbi);
                }
            }
            execute("commit");
            changes.count();
        } catch (SQLException | RuntimeException | Error e) {
            if (group.isEmpty()) {
                group.add(first);
            }
            failTogether(group, e);
            return;
        }
        group.forEach(Unit::answer);
    }

    private Optional<Unit<?>> more(List<Unit<?>> group) {
        return group.size() < groupLimit ? inbox.poll() : Optional.empty();
    }

    private void runApart(Unit<?> unit, Jdbi jdbi) throws SQLException {
        execute("savepoint unit");
        if (!unit.run(jdbi)) {
            try {
                execute("rollback to unit");
            } catch (SQLException e) {
                // On some errors, like a full disk, SQLite takes back the whole transaction by
                // itself: the units before this one are gone too.
                throw new SQLException(e.getMessage(), unit.problem().orElse(e));
            }
        }
        execute("release unit");
    }

    private void failTogether(List<Unit<?>> group, Throwable e) {
        try {
            execute("rollback");
        } catch (SQLException alreadyRolledBack) {
            e.addSuppressed(alreadyRolledBack);
        }
        changes.count(); // a commit that failed may be one
        for (var unit : group) {
            unit.fail(Sqlite.explain(e) instanceof Failure f ? f : neighbourFailed(e));
        }
    }

    private static Failure neighbourFailed(Throwable e) {
        return new Failure(
                Code.UNAVAILABLE,
                "the store took the change back, because one stored with it failed; try again",
                e);
    }

    /// Not through a statement that is kept: the driver makes one that failed once unusable for ever.
    private void execute(String sql) throws SQLException {
        Sqlite.execute(connection, sql);
    }
}
