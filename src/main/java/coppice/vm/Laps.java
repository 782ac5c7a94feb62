package coppice.vm;

import java.util.ArrayList;
import java.util.List;

/// How long each step of something takes, for the log.
final class Laps {
    private final long begun = System.nanoTime();
    private final List<String> steps = new ArrayList<>();
    private long last = begun;

    /// A step of this name ends now.
    void end(String step) {
        long now = System.nanoTime();
        steps.add("%s %s".formatted(step, millis(now - last)));
        last = now;
    }

    /// `12.3 ms (stop 1.1, disk 11.2)`, of the steps that have ended
    @Override
    public String toString() {
        return "%s ms (%s)".formatted(millis(last - begun), String.join(", ", steps));
    }

    private static double millis(long nanos) {
        return nanos / 10_000 / 100.0;
    }
}
