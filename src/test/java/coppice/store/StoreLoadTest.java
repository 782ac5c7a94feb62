package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreLoadTest {
    private static final int WRITERS = 200;

    @TempDir private Path directory;

    @Test
    void manyVirtualThreadsThatWriteDoNotStarveAnother() throws Exception {
        try (var store = Store.open(directory.resolve("test.db"))) {
            createTable(store);
            var done = new AtomicBoolean();
            var callers = new Callers();
            var writing = new ArrayList<FutureTask<Integer>>();
            for (var i = 0; i < WRITERS; i++) {
                writing.add(callers.start(() -> writeUntil(done, store)));
            }
            var longest = 0L;
            for (var i = 0; i < 500; i++) {
                longest = Math.max(longest, waitOfAFreshVirtualThread());
            }
            done.set(true);
            var written = 0;
            for (var task : writing) {
                written += task.get();
            }
            assertTrue(longest < 5_000, "a fresh virtual thread waited %d ms".formatted(longest));
            assertTrue(written > 0, "nothing was written");
            assertEquals(written, count(store));
        }
    }

    @Test
    void twoStoresOnOneFileSeeAndRespectEachOther() throws Exception {
        var file = directory.resolve("test.db");
        try (var one = Store.open(file);
                var two = Store.open(file)) {
            createTable(one);
            var callers = new Callers();
            var writing = new ArrayList<FutureTask<Integer>>();
            for (var i = 0; i < 8; i++) {
                var store = i % 2 == 0 ? one : two;
                writing.add(callers.start(() -> writeMany(store, 50)));
            }
            for (var task : writing) {
                task.get();
            }
            assertEquals(400, count(one));
            assertEquals(400, count(two));
        }
    }

    private static void createTable(Store store) {
        store.change(handle -> handle.execute("create table notes (text text not null)"));
    }

    private static int writeUntil(AtomicBoolean done, Store store) {
        var written = 0;
        while (!done.get()) {
            written += writeMany(store, 1);
        }
        return written;
    }

    private static int writeMany(Store store, int count) {
        for (var i = 0; i < count; i++) {
            store.change(handle -> handle.execute("insert into notes values ('note')"));
        }
        return count;
    }

    private static long waitOfAFreshVirtualThread() throws InterruptedException {
        var from = System.nanoTime();
        var ran = new CountDownLatch(1);
        Thread.startVirtualThread(ran::countDown);
        ran.await();
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - from);
    }

    private static int count(Store store) {
        return store.read(
                handle ->
                        handle.createQuery("select count(*) from notes")
                                .mapTo(Integer.class)
                                .one());
    }
}
