package coppice.main;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Whether two calls take the same time.
///
/// What is looked for is work that is done for what is there and not for what is not: a VM that is woken or asked, a file that is read,
/// an entry that is decided about after it was found. That takes a part of a millisecond at least, each time. The machine on which this
/// runs is busy with other things, whose share in both calls is the same only in the long run: so the calls are interleaved, medians are
/// compared, and only what differs much, by a factor and by an amount, in each of several rounds is a difference.
///
/// @param caller whose call it is that may find something
/// @param other whose call finds nothing
record IsolationTimes(IsolationCaller caller, IsolationCaller other, Random random) {
    private static final int CALLS = 100;
    private static final int ROUNDS = 3;
    private static final double FACTOR = 1.5;
    private static final long AMOUNT = 300_000;

    /// Fails when the answers to these take different times.
    void requireAlike(IsolationTrials.Pair pair) {
        var rounds = new ArrayList<Round>();
        do {
            rounds.add(round(pair));
            if (!rounds.getLast().differs()) {
                return;
            }
        } while (rounds.size() < ROUNDS);
        fail("%s takes another time than %s: %s".formatted(pair.foreign(), pair.never(), rounds));
    }

    /// Medians, in nanoseconds.
    private record Round(long foreign, long never) {
        boolean differs() {
            long less = Math.min(foreign, never);
            long more = Math.max(foreign, never);
            return more > less * FACTOR && more - less > AMOUNT;
        }
    }

    private Round round(IsolationTrials.Pair pair) {
        var foreign = new ArrayList<Long>();
        var never = new ArrayList<Long>();
        for (int i = 0; i < CALLS; i++) {
            boolean isFirst = random.nextBoolean();
            if (isFirst) {
                foreign.add(time(caller, pair.foreign()));
            }
            never.add(time(other, pair.never()));
            if (!isFirst) {
                foreign.add(time(caller, pair.foreign()));
            }
        }
        return new Round(median(foreign), median(never));
    }

    private static long time(IsolationCaller by, IsolationCall call) {
        long begun = System.nanoTime();
        by.send(call);
        return System.nanoTime() - begun;
    }

    private static long median(List<Long> times) {
        return times.stream().sorted().toList().get(times.size() / 2);
    }
}
