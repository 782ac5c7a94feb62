import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// Callers who ask at the same time, each again as soon as it is answered.
///
/// @param callers how many
record Crowd(int callers, Ask ask) {

    /// @param caller its number, from 0
    interface Ask {
        void by(int caller) throws Exception;
    }

    /// @param times of each answer
    record Round(Stats times, double perSecond) {}

    /// Has so many things asked in all. Who is fast asks more: up to the last ones everybody waits for an answer.
    Round round(int asks) throws Exception {
        var left = new AtomicInteger(asks);
        var times = new Stats();
        long begun = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var all = new ArrayList<Future<Stats>>();
            for (int i = 0; i < callers; i++) {
                int caller = i;
                all.add(threads.submit(() -> askOn(caller, left)));
            }
            for (var one : all) {
                times.addAll(one.get());
            }
        }
        return new Round(times, asks * 1e9 / (System.nanoTime() - begun));
    }

    private Stats askOn(int caller, AtomicInteger left) throws Exception {
        var times = new Stats();
        while (left.getAndDecrement() > 0) {
            times.add(Step.time(() -> ask.by(caller)));
        }
        return times;
    }
}
