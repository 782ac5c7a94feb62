package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.TreeSet;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreCrashTest {
    private static final int ENOUGH = 2000;

    @TempDir private Path directory;

    @RepeatedTest(2)
    void aProcessKilledInTheMiddleLosesNothingThatWasAcknowledged() throws Exception {
        var file = directory.resolve("test.db");
        var acknowledged = new TreeSet<Long>();
        try (var child = WritingChild.start(file)) {
            acknowledged.addAll(child.next(ENOUGH));
            acknowledged.addAll(child.kill());
        }
        assertTrue(acknowledged.size() >= ENOUGH, "only " + acknowledged.size() + " acknowledged");
        try (var store = Store.open(file)) {
            var stored =
                    new HashSet<>(
                            store.read(
                                    handle ->
                                            handle.createQuery("select n from numbers")
                                                    .mapTo(Long.class)
                                                    .list()));
            acknowledged.removeAll(stored);
            assertEquals(new TreeSet<>(), acknowledged, "acknowledged, but not stored");
            assertEquals(
                    "ok",
                    store.read(
                            handle ->
                                    handle.createQuery("pragma integrity_check")
                                            .mapTo(String.class)
                                            .one()));
        }
    }

    @Test
    void aProcessThatWritesAllTheTimeDoesNotKeepAnotherFromWriting() throws Exception {
        var file = directory.resolve("test.db");
        var mine = new ArrayList<Long>();
        try (var store = Store.open(file);
                var child = WritingChild.start(file)) {
            var theirs = child.next(100).size();
            for (var n = -1L; n > -50; n--) {
                var number = n;
                mine.add(number);
                store.change(handle -> handle.execute("insert into numbers values (?)", number));
                theirs += child.next(10).size();
            }
            child.kill();
            assertTrue(theirs >= 500, "the child came to write only " + theirs);
            assertEquals(
                    mine,
                    store.read(
                            handle ->
                                    handle.createQuery(
                                                    "select n from numbers where n < 0 order by n desc")
                                            .mapTo(Long.class)
                                            .list()));
        }
    }
}
