package coppice.store;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// A question that calls ask all the time: one row, by its key. Declared once, as a constant; asked by [Store#look].
///
/// @param sql a `select` that finds at most one row, by an index; a `?` for each part of the key
/// @param row what the row says; it does nothing but read, and by number: to find a column by its name takes as long as all the rest
public record Lookup<T>(String sql, Row<T> row) {

    /// Reads the row on which the result set stands.
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    Optional<T> ask(PreparedStatement statement, List<String> key) throws SQLException {
        for (int i = 0; i < key.size(); i++) {
            statement.setString(i + 1, key.get(i));
        }
        try (var rows = statement.executeQuery()) {
            return rows.next() ? Optional.of(row.read(rows)) : Optional.empty();
        }
    }

    Optional<T> ask(Handle handle, List<String> key) {
        var query = handle.createQuery(sql);
        for (int i = 0; i < key.size(); i++) {
            query.bind(i, key.get(i));
        }
        return query.map((found, _) -> row.read(found)).findOne();
    }
}
