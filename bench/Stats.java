import java.time.Duration;
import java.util.Arrays;

/// What came of doing something again and again: milliseconds, MiB, or so much in a second.
/// Percentiles are by nearest rank: the p99 of 50 is the longest.
final class Stats {
    // Millions of calls have to fit into a small heap.
    private double[] values = new double[16];
    private int count;

    void add(Duration time) {
        add(time.toNanos() / 1e6);
    }

    void add(double value) {
        if (count == values.length) {
            values = Arrays.copyOf(values, 2 * count);
        }
        values[count++] = value;
    }

    void addAll(Stats others) {
        for (int i = 0; i < others.count; i++) {
            add(others.values[i]);
        }
    }

    /// How much was done in a second in each of these times.
    ///
    /// @param amount that was done in each
    Stats perSecond(double amount) {
        var rates = new Stats();
        for (int i = 0; i < count; i++) {
            rates.add(amount * 1000 / values[i]);
        }
        return rates;
    }

    /// Some of them, in the order in which they came.
    ///
    /// @param to the first that is not among them
    Stats part(int from, int to) {
        var part = new Stats();
        for (int i = from; i < to; i++) {
            part.add(values[i]);
        }
        return part;
    }

    int count() {
        return count;
    }

    double percentile(double percent) {
        var sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(percent / 100 * count);
        return sorted[Math.max(rank, 1) - 1];
    }

    double median() {
        return percentile(50);
    }
}
