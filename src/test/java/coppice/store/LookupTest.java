package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LookupTest {
    private static final Lookup<Long> VALUE =
            new Lookup<>("select v from pairs where a = ? and b = ?", row -> row.getLong("v"));

    @TempDir private Path directory;
    private Store store;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        store.change(
                handle ->
                        handle.execute(
                                "create table pairs (a text, b text, v bigint, primary key (a, b))"));
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void put(Handle handle, String a, String b, long v) {
        handle.execute("insert or replace into pairs values (?, ?, ?)", a, b, v);
    }

    @Test
    void aRowIsFoundByAllOfItsKeyAndNoOther() {
        store.change(handle -> put(handle, "x", "y", 7));
        assertEquals(Optional.of(7L), store.look(VALUE, "x", "y"));
        assertEquals(Optional.empty(), store.look(VALUE, "y", "x"));
        assertEquals(Optional.empty(), store.look(VALUE, "x", "' or 1 = 1 --"));
    }

    @Test
    void whateverWasWrittenBeforeIsSeenByHoweverManyLookAtOnce() throws Exception {
        var random = Seed.random(LookupTest.class);
        var callers = new Callers();
        var tasks = new ArrayList<FutureTask<Boolean>>();
        for (int i = 0; i < 40; i++) {
            var key = "k" + i;
            var values = random.longs(100).toArray();
            tasks.add(
                    callers.start(
                            () -> {
                                for (long value : values) {
                                    store.change(handle -> put(handle, key, key, value));
                                    assertEquals(Optional.of(value), store.look(VALUE, key, key));
                                }
                                return true;
                            }));
        }
        for (var task : tasks) {
            assertTrue(task.get());
        }
    }

    @Test
    void whatIsRememberedIsNeverOlderThanTheLastChange() throws Exception {
        var one = new Lookup<>("select v from pairs where a = ?", row -> row.getLong(1));
        var remembered = new Remembered<>(store, one);
        var callers = new Callers();
        var tasks = new ArrayList<FutureTask<Boolean>>();
        for (int i = 0; i < 20; i++) {
            var key = "k" + i;
            tasks.add(
                    callers.start(
                            () -> {
                                for (long n = 0; n < 200; n++) {
                                    long value = n;
                                    store.change(handle -> put(handle, key, "", value));
                                    assertEquals(Optional.of(n), remembered.look(key));
                                    assertEquals(Optional.of(n), remembered.look(key));
                                }
                                return true;
                            }));
        }
        for (var task : tasks) {
            assertTrue(task.get());
        }
        store.change(handle -> handle.execute("delete from pairs"));
        assertEquals(Optional.empty(), remembered.look("k0"));
        try (var other = Store.open(directory.resolve("test.db"))) {
            other.change(handle -> put(handle, "k0", "", 7));
        }
        assertEquals(Optional.of(7L), remembered.look("k0"), "another process changed it");
    }

    @Test
    void whatAnotherProcessChangedIsSeenAtOnce() {
        try (var other = Store.open(directory.resolve("test.db"))) {
            for (long n = 0; n < 50; n++) {
                var value = n;
                other.change(handle -> put(handle, "x", "y", value));
                assertEquals(Optional.of(n), store.look(VALUE, "x", "y"));
                other.change(handle -> handle.execute("delete from pairs"));
                assertEquals(Optional.empty(), store.look(VALUE, "x", "y"));
            }
        }
    }

    @Test
    void aTableThatChangedItsShapeIsLookedAtAnew() {
        store.change(handle -> put(handle, "x", "y", 7));
        assertEquals(Optional.of(7L), store.look(VALUE, "x", "y"));
        store.change(handle -> handle.execute("alter table pairs add column more text"));
        assertEquals(Optional.of(7L), store.look(VALUE, "x", "y"));
    }

    @Test
    void whatIsWrongIsSaidAndTheNextAnswerIsRight() {
        var wrong = new Lookup<>("select nothing from pairs where a = ?", row -> row.getLong(1));
        var faulty =
                new Lookup<Long>(
                        "select v from pairs where a = ? and b = ?",
                        _ -> {
                            throw new IllegalArgumentException("a fault");
                        });
        store.change(handle -> put(handle, "x", "y", 7));
        for (int i = 0; i < 10; i++) {
            assertThrows(RuntimeException.class, () -> store.look(wrong, "x"));
            assertThrows(IllegalArgumentException.class, () -> store.look(faulty, "x", "y"));
        }
        assertEquals(Optional.of(7L), store.look(VALUE, "x", "y"));
    }

    @Test
    void aStatementThatFailedOnceIsMadeAnew() throws Exception {
        var source = Sqlite.source(directory.resolve("test.db"), StoreLimits.USUAL);
        var lookups = new Lookups(List.of(Sqlite.openForReading(source)));
        var key = List.of("x", "y");
        store.change(handle -> put(handle, "x", "y", 7));
        assertEquals(Optional.of(7L), lookups.ask(VALUE, key));
        store.change(handle -> handle.execute("alter table pairs rename to others"));
        assertThrows(SQLException.class, () -> lookups.ask(VALUE, key));
        store.change(handle -> handle.execute("alter table others rename to pairs"));
        assertEquals(Optional.of(7L), lookups.ask(VALUE, key));
        lookups.close(Deadline.in(Duration.ofSeconds(5)));
    }

    @Test
    void aUnitMayNotLook() {
        assertThrows(
                IllegalStateException.class,
                () -> store.write(_ -> store.look(VALUE, "x", "y").isEmpty()));
    }

    @Test
    void aClosedStoreIsNotAvailable() {
        store.close();
        long begun = System.nanoTime();
        store.close();
        assertTrue(System.nanoTime() - begun < Duration.ofSeconds(5).toNanos(), "nothing is left");
        var failure = assertThrows(Failure.class, () -> store.look(VALUE, "x", "y"));
        assertEquals(Code.UNAVAILABLE, failure.code());
    }
}
