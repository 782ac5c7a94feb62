import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How long something took, each time it was done. Percentiles are by nearest rank: the p99 of 50 is the longest.
final class Stats {
    private final List<Long> nanos = new ArrayList<>();

    void add(Duration time) {
        nanos.add(time.toNanos());
    }

    int count() {
        return nanos.size();
    }

    double millis(double percent) {
        var sorted = nanos.stream().sorted().toList();
        int rank = (int) Math.ceil(percent / 100 * sorted.size());
        return sorted.get(Math.max(rank, 1) - 1) / 1e6;
    }

    double minMillis() {
        return millis(0);
    }
}
