package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DemandTest {
    private static final Duration WINDOW = Duration.ofMinutes(10);
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final Demand demand = new Demand(WINDOW);

    @Test
    void whatNobodyUsedIsNotWanted() {
        assertEquals(Map.of(), demand.wanted(5, NOW));
    }

    @Test
    void aUseCountsForAsLongAsTheWindow() {
        var snapshot = SnapshotId.random();
        demand.note(snapshot, NOW);

        assertEquals(Map.of(snapshot, 1), demand.wanted(5, NOW.plus(WINDOW).minusMillis(1)));
        assertEquals(Map.of(), demand.wanted(5, NOW.plus(WINDOW)));
    }

    @Test
    void theOneThatIsUsedMoreGetsMorePlacesAndTheLastUsedGoesFirstAmongEquals() {
        var often = SnapshotId.random();
        var seldom = SnapshotId.random();
        IntStream.range(0, 9).forEach(_ -> demand.note(often, NOW));
        IntStream.range(0, 3).forEach(_ -> demand.note(seldom, NOW.plusSeconds(1)));

        assertEquals(Map.of(often, 1), demand.wanted(1, NOW));
        assertEquals(Map.of(often, 3, seldom, 1), demand.wanted(4, NOW));

        var last = SnapshotId.random();
        IntStream.range(0, 9).forEach(_ -> demand.note(last, NOW.plusSeconds(2)));
        assertEquals(Map.of(last, 1), demand.wanted(1, NOW));
    }

    /// Whatever was used: never more places than there are, never more of one than it had uses, and no place left empty that somebody used.
    @Test
    void placesAreNeverMoreThanThereAreOrWereUsed() {
        var random = Seed.random(DemandTest.class);
        for (int round = 0; round < 200; round++) {
            var some = new Demand(WINDOW);
            var uses = new HashMap<SnapshotId, Integer>();
            var snapshots = IntStream.range(0, 5).mapToObj(_ -> SnapshotId.random()).toList();
            for (int i = random.nextInt(30); i > 0; i--) {
                var snapshot = snapshots.get(random.nextInt(5));
                some.note(snapshot, NOW.minusSeconds(random.nextInt(500)));
                uses.merge(snapshot, 1, Integer::sum);
            }
            int room = random.nextInt(8);

            var wanted = some.wanted(room, NOW);

            int all = uses.values().stream().mapToInt(Integer::intValue).sum();
            assertEquals(
                    Math.min(room, all),
                    wanted.values().stream().mapToInt(Integer::intValue).sum());
            wanted.forEach((snapshot, places) -> assertTrue(places <= uses.get(snapshot)));
        }
    }
}
