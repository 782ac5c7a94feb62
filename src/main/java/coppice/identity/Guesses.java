package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;

/// Holds up whoever guesses: after a few attempts in vain each must wait twice as long as the one before, for five minutes at most. An
/// attempt that is refused does not count, so whoever knows the password gets in at last, however many others guess. An hour without an
/// attempt is forgotten.
///
/// In memory: a server that starts has seen nothing.
final class Guesses {
    private static final int MAX = 10_000;
    private static final int MAX_DOUBLINGS = 9;
    private static final Duration LONGEST = Duration.ofMinutes(5);
    private static final Duration FORGOTTEN = Duration.ofHours(1);

    private final int free;
    private final Clock clock;
    private final LinkedHashMap<String, Tries> tries = new LinkedHashMap<>();

    private record Tries(int count, Instant last) {}

    /// @param free how many attempts need not wait
    Guesses(int free, Clock clock) {
        this.free = free;
        this.clock = clock;
    }

    /// Counts an attempt, which is in vain until [#right] says otherwise: those that are made at the same time count, too. `RATE_LIMITED`
    /// with the time to wait when it comes too early.
    synchronized void take(String who) {
        var now = clock.instant();
        var before = tries.getOrDefault(who, new Tries(0, Instant.EPOCH));
        var quiet = Duration.between(before.last, now);
        int count = quiet.compareTo(FORGOTTEN) >= 0 ? 0 : before.count;
        var left = wait(count).minus(quiet);
        if (left.isPositive()) {
            throw new Failure(
                            Code.RATE_LIMITED,
                            "too many attempts; try again in %d s"
                                    .formatted(left.plusMillis(999).toSeconds()))
                    .retryAfter(left);
        }
        tries.remove(who); // those that tried last come last
        tries.put(who, new Tries(count + 1, now));
        if (tries.size() > MAX) {
            tries.pollFirstEntry();
        }
    }

    /// Of an attempt at which nobody looked.
    synchronized void takeBack(String who) {
        tries.computeIfPresent(
                who, (_, it) -> it.count > 1 ? new Tries(it.count - 1, it.last) : null);
    }

    synchronized void right(String who) {
        tries.remove(who);
    }

    private Duration wait(int count) {
        if (count < free) {
            return Duration.ZERO;
        }
        var wait = Duration.ofSeconds(1L << Math.min(count - free, MAX_DOUBLINGS));
        return wait.compareTo(LONGEST) < 0 ? wait : LONGEST;
    }
}
