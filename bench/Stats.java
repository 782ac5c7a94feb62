import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What came of doing something again and again: milliseconds, MiB, or so much in a second.
/// Percentiles are by nearest rank: the p99 of 50 is the longest.
final class Stats {
    private final List<Double> values = new ArrayList<>();

    void add(Duration time) {
        values.add(time.toNanos() / 1e6);
    }

    void add(double value) {
        values.add(value);
    }

    void addAll(Stats others) {
        values.addAll(others.values);
    }

    /// How much was done in a second in each of these times.
    ///
    /// @param amount that was done in each
    Stats perSecond(double amount) {
        var rates = new Stats();
        values.forEach(millis -> rates.add(amount * 1000 / millis));
        return rates;
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
