import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What came of doing something again and again: milliseconds, or MiB. Percentiles are by nearest rank: the p99 of 50 is the longest.
final class Stats {
    private final List<Double> values = new ArrayList<>();

    void add(Duration time) {
        values.add(time.toNanos() / 1e6);
    }

    void add(double value) {
        values.add(value);
    }

    int count() {
        return values.size();
    }

    double percentile(double percent) {
        var sorted = values.stream().sorted().toList();
        int rank = (int) Math.ceil(percent / 100 * sorted.size());
        return sorted.get(Math.max(rank, 1) - 1);
    }

    double median() {
        return percentile(50);
    }
}
