package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreTest {
    private static final StoreLimits TIGHT =
            new StoreLimits(
                    3, 64, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofMinutes(1));

    @TempDir private Path directory;
    private Store store;

    @BeforeEach
    void openWithATable() {
        store = Store.open(directory.resolve("test.db"));
        store.change(
                handle -> handle.execute("create table numbers (n bigint not null primary key)"));
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void whatWasWrittenIsRead() {
        var inserted = store.write(handle -> insert(handle, 7));
        assertEquals(1, inserted);
        assertEquals(List.of(7L), numbers());
    }

    @Test
    void aUnitThatFailsLeavesNothingAndItsCallerGetsThatFailure() {
        var failure = new Failure(Code.CONFLICT, "no");
        var thrown =
                assertThrows(
                        Failure.class,
                        () ->
                                store.change(
                                        handle -> {
                                            insert(handle, 1);
                                            throw failure;
                                        }));
        assertSame(failure, thrown);
        assertEquals(List.of(), numbers());
    }

    @Test
    void anErrorInAUnitReachesTheCallerAndTheStoreGoesOn() {
        assertThrows(
                StackOverflowError.class,
                () ->
                        store.change(
                                _ -> {
                                    throw new StackOverflowError();
                                }));
        store.change(handle -> insert(handle, 1));
        assertEquals(List.of(1L), numbers());
    }

    @Test
    void unitsOfOneGroupThatFailAreKeptApartFromTheOthers() throws Exception {
        var tasks =
                together(
                        LongStream.range(0, 30)
                                .<Unsure>mapToObj(
                                        n ->
                                                handle -> {
                                                    insert(handle, n);
                                                    if (n % 3 == 0) {
                                                        throw new Failure(Code.CONFLICT, "no " + n);
                                                    }
                                                })
                                .toList());
        for (var n = 0; n < tasks.size(); n++) {
            assertEquals(n % 3 == 0 ? "no " + n : "done", outcome(tasks.get(n)));
        }
        assertEquals(LongStream.range(0, 30).filter(n -> n % 3 != 0).boxed().toList(), numbers());
    }

    @Test
    void aUnitThatEndsTheGroupByHandMakesItsNeighboursFailRatherThanBelieve() throws Exception {
        var tasks =
                together(
                        List.of(
                                handle -> insert(handle, 1),
                                handle -> handle.execute("rollback"),
                                handle -> insert(handle, 2)));
        assertTrue(
                outcome(tasks.get(0)).startsWith("the store took the change back"),
                outcome(tasks.get(0)));
        assertTrue(
                outcome(tasks.get(1)).startsWith("the store took the change back"),
                outcome(tasks.get(1)));
        assertEquals("done", outcome(tasks.get(2)));
        assertEquals(List.of(2L), numbers());
    }

    @Test
    void aTakenKeyIsRecognised() {
        store.change(handle -> insert(handle, 1));
        var taken =
                assertThrows(
                        RuntimeException.class, () -> store.change(handle -> insert(handle, 1)));
        assertTrue(Store.isUniqueViolation(taken));
        var other =
                assertThrows(
                        RuntimeException.class,
                        () ->
                                store.change(
                                        handle ->
                                                handle.execute(
                                                        "insert into numbers values (null)")));
        assertFalse(Store.isUniqueViolation(other));
        assertFalse(
                Store.isUniqueViolation(new Failure(Code.CONFLICT, "UNIQUE constraint failed")));
    }

    @Test
    void nestedTransactionsRunInTheUnitAndEndingItByHandIsRefused() {
        store.change(handle -> handle.useTransaction(inner -> insert(inner, 1)));
        assertThrows(UnsupportedOperationException.class, () -> store.change(Handle::commit));
        assertEquals(List.of(1L), numbers());
    }

    @Test
    void aReadSeesOneInstantAndCannotChangeIt() throws Exception {
        var gate = new Gate();
        var callers = new Callers();
        var reading =
                callers.start(
                        () ->
                                store.read(
                                        handle -> {
                                            var before = count(handle);
                                            gate.hold();
                                            return List.of(before, count(handle));
                                        }));
        gate.awaitReached();
        store.change(handle -> insert(handle, 1));
        gate.open();
        assertEquals(List.of(0, 0), reading.get());
        assertThrows(RuntimeException.class, () -> store.read(handle -> insert(handle, 2)));
        assertEquals(List.of(1L), numbers());
    }

    @Test
    void aUnitThatReturnsNullIsTakenBack() {
        assertThrows(
                NullPointerException.class,
                () ->
                        store.write(
                                handle -> {
                                    insert(handle, 1);
                                    return null;
                                }));
        assertEquals(List.of(), numbers());
    }

    @Test
    void aUnitThatCallsTheStoreIsRefusedInsteadOfWaitingForItself() {
        assertThrows(IllegalStateException.class, () -> store.write(_ -> store.read(_ -> 1)));
    }

    @Test
    void closingFinishesWhatWasTakenAndRefusesTheRest() throws Exception {
        var gate = new Gate();
        var callers = new Callers();
        callers.start(() -> store.write(_ -> gate.hold()));
        gate.awaitReached();
        var queued = new ArrayList<FutureTask<Integer>>();
        for (var n = 0; n < 1000; n++) {
            var number = n;
            queued.add(callers.start(() -> store.write(handle -> insert(handle, number))));
        }
        callers.awaitAllWaiting();
        var closing = new FutureTask<>(store::close, true);
        Thread.ofVirtual().start(closing);
        assertEquals("the store is closed; try again after the start", outcomeOnceClosed());
        gate.open();
        closing.get();
        for (var task : queued) {
            assertEquals(1, task.get());
        }
        store = Store.open(directory.resolve("test.db"));
        assertEquals(queued.size(), numbers().size());
    }

    @Test
    void aFullQueueIsAnAnswerAndALateOneTellsWhetherItMayStillBeDone() throws Exception {
        try (var tight = Store.open(directory.resolve("test.db"), TIGHT)) {
            var gate = new Gate();
            var callers = new Callers();
            var running = callers.start(() -> tight.write(_ -> gate.hold()));
            gate.awaitReached();
            var queued = new ArrayList<FutureTask<Integer>>();
            for (var n = 0; n < TIGHT.queue(); n++) {
                queued.add(callers.start(() -> tight.write(handle -> insert(handle, 1))));
            }
            callers.awaitAllWaiting();
            var refused =
                    assertThrows(Failure.class, () -> tight.write(handle -> insert(handle, 1)));
            assertEquals(Code.UNAVAILABLE, refused.code());
            assertEquals(
                    "the store has 3 requests waiting, its limit; try again later",
                    refused.getMessage());
            assertEquals(
                    "the store did not answer in time; it may still be done, look before you try again",
                    outcome(running));
            for (var task : queued) {
                assertEquals(
                        "the store did not answer in time; nothing was done, try again",
                        outcome(task));
            }
            gate.open();
        }
        assertEquals(List.of(), numbers());
    }

    private interface Unsure {
        void accept(Handle handle);
    }

    /// Runs the units in one group, in this order.
    private List<FutureTask<Boolean>> together(List<Unsure> units) {
        var gate = new Gate();
        var callers = new Callers();
        callers.start(() -> store.write(_ -> gate.hold()));
        gate.awaitReached();
        var tasks = new ArrayList<FutureTask<Boolean>>();
        for (var unit : units) {
            tasks.add(
                    callers.start(
                            () ->
                                    store.write(
                                            handle -> {
                                                unit.accept(handle);
                                                return true;
                                            })));
            callers.awaitAllWaiting();
        }
        gate.open();
        return tasks;
    }

    private static String outcome(FutureTask<?> task) throws InterruptedException {
        try {
            task.get();
            return "done";
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        }
    }

    /// Asks until the store refuses because it is closing.
    private String outcomeOnceClosed() {
        var callers = new Callers();
        while (true) {
            var probe = callers.start(() -> store.read(StoreTest::count));
            try {
                probe.get();
            } catch (ExecutionException e) {
                return e.getCause().getMessage();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private List<Long> numbers() {
        return store.read(
                handle ->
                        handle.createQuery("select n from numbers order by n")
                                .mapTo(Long.class)
                                .list());
    }

    private static int insert(Handle handle, long n) {
        return handle.execute("insert into numbers values (?)", n);
    }

    private static int count(Handle handle) {
        return handle.createQuery("select count(*) from numbers").mapTo(Integer.class).one();
    }
}
