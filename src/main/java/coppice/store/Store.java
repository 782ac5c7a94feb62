package coppice.store;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Undo;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.sqlite.SQLiteDataSource;

/// The durable records, in one SQLite file that several processes may have open.
///
/// Work is a *unit*: a function over a JDBI handle, run as one transaction on a thread of the store while the caller waits.
/// - When [#write] or [#change] returns, the change is on disk and every later [#read] sees it.
/// - When the unit throws, what it changed is taken back and the caller gets that very exception. Units that happen to share a
///   commit do not notice each other.
/// - A unit does nothing but SQL, briefly: all writers wait for it. It must not call the store again, nor end the transaction,
///   nor return null. A unique violation is caught outside the unit, since PostgreSQL does not go on after one.
/// - A `Failure` with `UNAVAILABLE` says that the queue is full, that no answer came in time, or that the disk did not take the
///   change; its message says whether it may still be done. Later units work again once the reason is gone.
public final class Store implements AutoCloseable {
    private static final int READERS = 2;
    private static final int LOOKING = 4;

    private final SQLiteDataSource source;
    private final StoreLimits limits;
    private final Inbox writes;
    private final Inbox reads;
    private final Lookups lookups;
    private final Changes changes;
    private final List<Thread> threads;

    private Store(
            SQLiteDataSource source,
            StoreLimits limits,
            Connection writing,
            List<Connection> reading,
            Lookups lookups,
            Changes changes) {
        this.source = source;
        this.changes = changes;
        this.lookups = lookups;
        this.limits = limits;
        this.writes = new Inbox(limits.queue());
        this.reads = new Inbox(limits.queue());
        var started = new ArrayList<Thread>();
        started.add(start("store-writer", new Writer(writing, writes, limits.group(), changes)));
        for (var connection : reading) {
            started.add(start("store-reader", new Reader(connection, reads)));
        }
        this.threads = List.copyOf(started);
    }

    /// Has the database's native library unpacked into this directory, which is emptied. Before the first store is opened; no other
    /// process may have the same.
    public static void unpackInto(Path directory) {
        Sqlite.unpackInto(directory);
    }

    /// Opens the file, or makes it, and brings its tables up to date. Its directory must exist.
    public static Store open(Path file) {
        return open(file, StoreLimits.USUAL);
    }

    public static Store open(Path file, StoreLimits limits) {
        return OwnThread.call(
                "store-open", Deadline.in(limits.longWork()), () -> openHere(file, limits));
    }

    /// Runs `unit` with others in one transaction; returns its result when that is committed.
    public <T> T write(Function<Handle, T> unit) {
        return ask(writes, unit);
    }

    /// [#write] without a result.
    public void change(Consumer<Handle> unit) {
        write(
                handle -> {
                    unit.accept(handle);
                    return true;
                });
    }

    /// [#change] without waiting. What goes wrong later is not told: for records that are worth no caller's time.
    public void changeSoon(Consumer<Handle> unit) {
        writes.put(
                new Unit<>(
                        handle -> {
                            unit.accept(handle);
                            return true;
                        },
                        Deadline.in(limits.patience())));
    }

    /// Runs `unit` on one unchanging view of the database that it cannot change itself.
    public <T> T read(Function<Handle, T> unit) {
        return ask(reads, unit);
    }

    /// The row with this key. As [#read], but much faster: for what nearly every call asks.
    public <T> Optional<T> look(Lookup<T> lookup, String... key) {
        requireOutside();
        var parts = List.of(key);
        try {
            return lookups.ask(lookup, parts);
        } catch (SQLException _) {
            return read(handle -> lookup.ask(handle, parts)); // it can wait, and say what is wrong
        }
    }

    /// Is another number as soon as any process has changed anything, before whoever asked for the change is answered.
    long changes() {
        return changes.number();
    }

    /// Fails with `UNAVAILABLE` if the store does not answer.
    public void requireAnswer() {
        read(handle -> handle.createQuery("select 1").mapTo(Integer.class).one());
    }

    /// Copies the database into a new file while it is in use. `CONFLICT` if that file, or the same with `.partial`, exists.
    public void backup(Path target) {
        var deadline = Deadline.in(limits.longWork());
        OwnThread.call(
                "store-backup",
                deadline,
                () -> {
                    Backup.make(source, target, deadline);
                    return target;
                });
    }

    /// Whether a row was refused because another one with the same key exists, judged by the database's error code.
    public static boolean isUniqueViolation(Throwable e) {
        return Sqlite.isUniqueViolation(e);
    }

    /// Whether a row was refused because what it refers to does not exist, judged by the database's error code.
    public static boolean isMissingReference(Throwable e) {
        return Sqlite.isMissingReference(e);
    }

    /// Takes no more work, finishes what was taken, and closes the file.
    @Override
    public void close() {
        writes.close();
        reads.close();
        var deadline = Deadline.in(limits.patience().plus(limits.lockWait()));
        try {
            lookups.close(deadline);
            for (var thread : threads) {
                if (!thread.join(deadline.left())) {
                    throw new Failure(
                            Code.UNAVAILABLE, "the store did not finish its work in time to close");
                }
            }
            changes.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while closing the store", e);
        } catch (SQLException e) {
            throw new Failure(Code.UNAVAILABLE, "the store did not close", e);
        }
    }

    private <T> T ask(Inbox inbox, Function<Handle, T> work) {
        requireOutside();
        var unit = new Unit<>(work, Deadline.in(limits.patience()));
        inbox.put(unit);
        return unit.await();
    }

    private void requireOutside() {
        if (threads.contains(Thread.currentThread())) {
            throw new IllegalStateException(
                    "a unit may not call the store: it would wait for itself");
        }
    }

    private static Store openHere(Path file, StoreLimits limits) throws SQLException, IOException {
        PrivateFile.createIfAbsent(file);
        var source = Sqlite.source(file, limits);
        Schema.bringUpToDate(file, source);
        try (var undo = new Undo()) {
            var writing = undo.add(source.getConnection());
            var reading = new ArrayList<Connection>();
            for (var i = 0; i < READERS + LOOKING; i++) {
                reading.add(undo.add(Sqlite.openForReading(source)));
            }
            var lookups = new Lookups(reading.subList(READERS, READERS + LOOKING));
            var changes = undo.add(Changes.of(file));
            var store =
                    new Store(
                            source, limits, writing, reading.subList(0, READERS), lookups, changes);
            undo.keep();
            return store;
        }
    }

    private static Thread start(String name, Runnable work) {
        return Thread.ofPlatform().daemon().name(name).start(work);
    }
}
