package coppice.main;

import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/// Random sizes: often those where a frame, a window or a buffer ends, else as many small as large ones, by magnitude. There is so much
/// to be given away in all, that a test takes no longer for a large one. From any thread.
final class Sizes {
    private static final List<Integer> EDGES =
            List.of(0, 1, 16_376, 32 << 10, 64 << 10, 256 << 10, 1 << 20);
    private static final int SMALL = 4 << 10;

    private final long largest;
    private final AtomicLong left;

    Sizes(long largest, long sum) {
        this.largest = largest;
        this.left = new AtomicLong(sum);
    }

    /// At most `most`, which is at least 1.
    long next(Random random, long most) {
        long wanted = random.nextInt(3) == 0 ? edge(random) : magnitude(random);
        long limit = Math.min(most, Math.max(SMALL, left.get() / 2));
        long size = wanted <= limit ? wanted : limit - random.nextInt(Math.min(SMALL, (int) limit));
        left.addAndGet(-size);
        return size;
    }

    int nextInt(Random random, int most) {
        return (int) next(random, most);
    }

    private static long edge(Random random) {
        int edge = EDGES.get(random.nextInt(EDGES.size()));
        return Math.max(0, edge + random.nextInt(-1, 2));
    }

    /// The larger, the rarer.
    private long magnitude(Random random) {
        double share = random.nextDouble();
        return (long) Math.pow(largest, share * Math.sqrt(share));
    }
}
