package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FullDiskIT {
    private static final String NOTE = "x".repeat(4000);

    @TempDir private Path directory;
    private boolean isMounted;

    @BeforeEach
    void mount() throws Exception {
        isMounted = run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", directory.toString());
        assumeTrue(isMounted, "skipped: a small tmpfs cannot be mounted here (needs root)");
    }

    @AfterEach
    void unmount() throws Exception {
        if (isMounted) {
            assertTrue(run("umount", directory.toString()), "cannot unmount " + directory);
        }
    }

    @Test
    void onAFullDiskWritesFailReadsWorkAndWritesGoOnWhenThereIsSpaceAgain() throws Exception {
        var filler = directory.resolve("filler");
        try (var store = Store.open(directory.resolve("test.db"))) {
            store.change(
                    handle ->
                            handle.execute("create table notes (n bigint primary key, text text)"));
            fill(filler);
            var stored = new ArrayList<Long>();
            var failure = writeUntilFull(store, stored);
            assertEquals(Code.UNAVAILABLE, failure.code());
            assertTrue(failure.getMessage().contains("full"), failure.getMessage());
            assertEquals(stored, numbers(store));

            Files.delete(filler);
            stored.add(-1L);
            store.change(handle -> insert(handle, -1));
            assertEquals(stored.stream().sorted().toList(), numbers(store));
            assertIntact(store);
        }
    }

    @Test
    void inAGroupThatDoesNotFitEveryUnitThatIsNotStoredSaysSo() throws Exception {
        try (var store = Store.open(directory.resolve("test.db"))) {
            store.change(
                    handle ->
                            handle.execute("create table notes (n bigint primary key, text text)"));
            var gate = new Gate();
            var callers = new Callers();
            callers.start(() -> store.write(_ -> gate.hold()));
            gate.awaitReached();
            var small = callers.start(() -> store.write(handle -> insert(handle, 1)));
            callers.awaitAllWaiting();
            var large = callers.start(() -> store.write(FullDiskIT::insertMoreThanFits));
            callers.awaitAllWaiting();
            gate.open();
            assertTrue(message(large).contains("full"), message(large));
            assertEquals(message(small).equals("done") ? List.of(1L) : List.of(), numbers(store));

            store.change(handle -> insert(handle, 2));
            assertTrue(numbers(store).contains(2L));
            assertIntact(store);
        }
    }

    private static Failure writeUntilFull(Store store, List<Long> stored) {
        for (var n = 1L; n < 10_000; n++) {
            var number = n;
            try {
                store.change(handle -> insert(handle, number));
                stored.add(number);
            } catch (Failure e) {
                // It stays so: no write may claim success while the disk is full.
                assertThrows(Failure.class, () -> store.change(handle -> insert(handle, 20_000)));
                return e;
            }
        }
        throw new AssertionError("40 MB fitted on 4 MB");
    }

    private static int insert(Handle handle, long n) {
        return handle.execute("insert into notes values (?, ?)", n, NOTE);
    }

    private static int insertMoreThanFits(Handle handle) {
        for (var n = 100L; n < 3000; n++) {
            insert(handle, n);
        }
        return 1;
    }

    private static List<Long> numbers(Store store) {
        return store.read(
                handle ->
                        handle.createQuery("select n from notes order by n")
                                .mapTo(Long.class)
                                .list());
    }

    private static void assertIntact(Store store) {
        assertEquals(
                "ok",
                store.read(
                        handle ->
                                handle.createQuery("pragma integrity_check")
                                        .mapTo(String.class)
                                        .one()));
    }

    private static String message(FutureTask<?> task) throws InterruptedException {
        try {
            task.get();
            return "done";
        } catch (ExecutionException e) {
            assertFalse(e.getCause().getMessage().isBlank());
            return e.getCause().getMessage();
        }
    }

    private static void fill(Path file) throws IOException {
        try (var out = Files.newOutputStream(file)) {
            while (true) {
                out.write(new byte[4096]);
            }
        } catch (IOException full) {
            assertTrue(Files.size(file) > 0, full.toString());
        }
    }

    private static boolean run(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    }
}
