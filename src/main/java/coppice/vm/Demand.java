package coppice.vm;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/// Which snapshots VMs were made from lately, and how many of each should therefore be kept ready. Not thread-safe.
final class Demand {
    /// More uses than this say nothing more.
    private static final int MAX_USES = 1000;

    private final Duration window;
    private final Deque<Use> uses = new ArrayDeque<>();

    private record Use(SnapshotId snapshot, Instant at) {}

    private record Tally(int uses, Instant last) {}

    /// @param window how long a use counts
    Demand(Duration window) {
        this.window = window;
    }

    void note(SnapshotId snapshot, Instant now) {
        uses.addLast(new Use(snapshot, now));
        if (uses.size() > MAX_USES) {
            uses.removeFirst();
        }
    }

    /// How many of each snapshot should be ready when there can be `room` in all: each place goes to the snapshot that has the most uses
    /// for each place that it would then have, and no snapshot gets more places than it had uses.
    Map<SnapshotId, Integer> wanted(int room, Instant now) {
        var tallies = tallies(now);
        var places = new HashMap<SnapshotId, Integer>();
        for (int i = 0; i < room; i++) {
            tallies.entrySet().stream()
                    .filter(e -> places.getOrDefault(e.getKey(), 0) < e.getValue().uses())
                    .max(
                            Comparator.<Map.Entry<SnapshotId, Tally>>comparingDouble(
                                            e ->
                                                    (double) e.getValue().uses()
                                                            / (places.getOrDefault(e.getKey(), 0)
                                                                    + 1))
                                    .thenComparing(e -> e.getValue().last())
                                    .thenComparing(e -> e.getKey().text()))
                    .ifPresent(e -> places.merge(e.getKey(), 1, Integer::sum));
        }
        return places;
    }

    private Map<SnapshotId, Tally> tallies(Instant now) {
        while (!uses.isEmpty() && !uses.getFirst().at().plus(window).isAfter(now)) {
            uses.removeFirst();
        }
        var tallies = new HashMap<SnapshotId, Tally>();
        for (var use : uses) {
            tallies.merge(
                    use.snapshot(),
                    new Tally(1, use.at()),
                    (before, one) -> new Tally(before.uses() + 1, one.last()));
        }
        return tallies;
    }
}
