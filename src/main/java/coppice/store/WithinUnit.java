package coppice.store;

import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.transaction.TransactionHandler;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;

/// The transactions of a handle inside a unit: the unit is one already, so a nested one just runs, and ending it by hand, which
/// would end its neighbours' too, is refused.
final class WithinUnit implements TransactionHandler {

    @Override
    public boolean isInTransaction(Handle handle) {
        return true;
    }

    @Override
    public <R, X extends Exception> R inTransaction(Handle handle, HandleCallback<R, X> callback)
            throws X {
        return callback.withHandle(handle);
    }

    @Override
    public <R, X extends Exception> R inTransaction(
            Handle handle, TransactionIsolationLevel level, HandleCallback<R, X> callback)
            throws X {
        return callback.withHandle(handle);
    }

    @Override
    public void begin(Handle handle) {
        throw refused();
    }

    @Override
    public void commit(Handle handle) {
        throw refused();
    }

    @Override
    public void rollback(Handle handle) {
        throw refused();
    }

    @Override
    public void savepoint(Handle handle, String name) {
        throw refused();
    }

    @Override
    public void rollbackToSavepoint(Handle handle, String name) {
        throw refused();
    }

    @Override
    public void releaseSavepoint(Handle handle, String name) {
        throw refused();
    }

    private static UnsupportedOperationException refused() {
        return new UnsupportedOperationException(
                "the unit is the transaction: throw to take it back, return to commit it");
    }
}
