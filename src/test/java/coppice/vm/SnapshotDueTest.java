package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.identity.AccountId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SnapshotDueTest {
    private static final Instant TAKEN = Instant.parse("2026-03-01T09:30:00Z");

    /// Seconds; absent ones are no timer, and never used.
    @ParameterizedTest
    @CsvSource({
        "10, ,   ,  9, false",
        "10, ,   , 10, true",
        "10, ,  5, 10, true",
        "  ,10,   ,  9, false",
        "  ,10,   , 10, true",
        "  ,10,  5, 14, false",
        "  ,10,  5, 15, true",
        "20,10,  5, 15, true",
        "12,10,  5, 12, true",
        "20,30,   , 19, false"
    })
    void theTtlRunsFromTheCaptureAndTheAutoDeleteFromTheLastUse(
            Long ttl, Long autoDelete, Long used, long now, boolean isDue) {
        var snapshot =
                snapshot(
                        Optional.ofNullable(ttl).map(Duration::ofSeconds),
                        Optional.ofNullable(autoDelete).map(Duration::ofSeconds),
                        Optional.ofNullable(used).map(TAKEN::plusSeconds));
        assertEquals(isDue, snapshot.isDue(TAKEN.plusSeconds(now)));
    }

    @Test
    void withoutATimerItsTimeNeverComes() {
        var snapshot = snapshot(Optional.empty(), Optional.empty(), Optional.empty());
        assertEquals(false, snapshot.isDue(Instant.MAX));
    }

    private static Snapshot snapshot(
            Optional<Duration> ttl, Optional<Duration> autoDelete, Optional<Instant> used) {
        return new Snapshot(
                SnapshotId.random(),
                AccountId.random(),
                new Snapshot.Settings(Optional.empty(), Optional.empty(), autoDelete, ttl),
                false,
                Optional.empty(),
                Optional.empty(),
                new Persistence.Persistent(),
                new Snapshot.Usable(),
                used,
                TAKEN,
                TAKEN);
    }
}
