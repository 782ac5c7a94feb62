package coppice;

import java.util.Random;

/// The randomness of a test: a new seed each time, printed, and fixed by `-Dcoppice.seed=N` to repeat a run.
public final class Seed {
    private Seed() {}

    public static Random random(Class<?> test) {
        long seed = Long.getLong("coppice.seed", System.nanoTime());
        System.out.println(test.getSimpleName() + ": -Dcoppice.seed=" + seed);
        return new Random(seed);
    }
}
