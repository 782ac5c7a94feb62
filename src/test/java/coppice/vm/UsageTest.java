package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.base.Deadline;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a reading holds when there is no time for it; numbers are tested with real files and VMs.
class UsageTest {
    @TempDir private Path directory;
    private GivenSnapshots given;
    private Usage usage;

    @BeforeEach
    void open() {
        given = new GivenSnapshots(directory);
        var accounts = new Accounts(given.store, Clock.systemUTC());
        usage = new Usage(given.store, accounts, directory, given.reflink);
    }

    @AfterEach
    void close() {
        usage.close();
        given.close();
    }

    @Test
    void afterTheDeadlineThereAreNoNumbersAndTheReadingSaysSo() {
        given.take(given.ada);
        var reading = read(Optional.empty());
        assertEquals(List.of(Optional.empty()), disks(reading));
        assertFalse(reading.isComplete());
    }

    @Test
    void aReadingOfAnAccountHasNothingOfOthersAndNothingThatIsDeleted() {
        var first = given.take(given.ada);
        given.now = given.now.plusSeconds(1);
        var second = given.take(given.ada);
        var others = given.take(given.bob);

        assertEquals(List.of(first.id(), second.id()), ids(read(Optional.of(given.ada))));
        assertEquals(List.of(others.id()), ids(read(Optional.of(given.bob))));

        given.snapshots.delete(given.ada, first.id().text());
        assertEquals(List.of(second.id()), ids(read(Optional.of(given.ada))));
    }

    private UsageReading read(Optional<AccountId> only) {
        return usage.read(only, Deadline.in(Duration.ZERO));
    }

    private static List<SnapshotId> ids(UsageReading reading) {
        return reading.snapshots().stream().map(s -> s.snapshot().id()).toList();
    }

    private static List<Optional<?>> disks(UsageReading reading) {
        return reading.snapshots().stream().<Optional<?>>map(s -> s.disk()).toList();
    }
}
