package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashSet;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Through a real store: what is written is what the next server reads.
class SnapshotRowTest {
    @TempDir private Path directory;
    private final AnyVm any = new AnyVm(Seed.random(SnapshotRowTest.class));

    @Test
    void everySnapshotIsReadAsItWasWritten() {
        try (var store = Store.open(directory.resolve("test.db"))) {
            var account = new Accounts(store, Clock.systemUTC()).platform().id();
            var records = new SnapshotRecords(store);
            var written = new HashSet<Snapshot>();
            while (written.size() < 200) {
                var snapshot = any.snapshot(account);
                records.insert(snapshot, Optional.empty());
                written.add(snapshot);
            }
            var read = records.of(account);
            assertEquals(written, new HashSet<>(read));
            assertEquals(
                    read.stream()
                            .map(Snapshot::createdAt)
                            .sorted(java.util.Comparator.reverseOrder())
                            .toList(),
                    read.stream().map(Snapshot::createdAt).toList());
            assertEquals(3, read.stream().map(s -> s.standing().getClass()).distinct().count());
            assertEquals(
                    written.stream()
                            .filter(s -> s.standing() instanceof Snapshot.Usable)
                            .map(Snapshot::id)
                            .collect(Collectors.toSet()),
                    records.ids(),
                    "the files of the others may go");
        }
    }
}
