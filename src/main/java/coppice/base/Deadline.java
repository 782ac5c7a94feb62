package coppice.base;

import java.time.Duration;

/// The moment by which something must be done: one budget that is passed down, instead of a fresh timeout for each step.
/// Measured on the monotonic clock, so changes of the wall clock do not move it.
public record Deadline(long nanoTime) {

    public static Deadline in(Duration left) {
        return new Deadline(System.nanoTime() + left.toNanos());
    }

    /// The time left, never negative.
    public Duration left() {
        return Duration.ofNanos(Math.max(0, nanoTime - System.nanoTime()));
    }

    public boolean isPast() {
        return nanoTime - System.nanoTime() <= 0;
    }

    /// The earlier of this deadline and `limit` from now.
    public Deadline atMost(Duration limit) {
        var other = in(limit);
        return other.nanoTime - nanoTime < 0 ? other : this;
    }
}
