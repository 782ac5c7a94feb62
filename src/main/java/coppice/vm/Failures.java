package coppice.vm;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/// How often a VM failed lately: ended although nobody wanted it to, or did not come up again by itself. It says how long the next
/// automatic restart waits, and when there are to be no more.
///
/// @param recent those of the last ten minutes, the oldest first; never more than so many that the VM is given up
/// @param streak how many there were without ten good minutes between two of them; what the wait grows with
public record Failures(List<Instant> recent, int streak) {
    static final Failures NONE = new Failures(List.of(), 0);

    private static final Duration WINDOW = Duration.ofMinutes(10);
    private static final int TOO_MANY = 5;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    /// The wait of a longer streak is the longest.
    private static final int LONGEST_STREAK = 7;

    public Failures {
        recent = List.copyOf(recent);
    }

    /// These, and one more.
    Failures and(Instant failure) {
        var since = failure.minus(WINDOW);
        var still = recent.stream().filter(since::isBefore).toList();
        var all = Stream.concat(still.stream(), Stream.of(failure)).toList();
        return new Failures(
                all.subList(Math.max(0, all.size() - TOO_MANY), all.size()),
                still.isEmpty() ? 1 : Math.min(streak + 1, LONGEST_STREAK));
    }

    /// Whether the VM is given up.
    boolean areTooMany() {
        return recent.size() >= TOO_MANY;
    }

    /// How long the restart after the last one waits: 1, 2, 4 ... 60 s.
    Duration pause() {
        var wait = Duration.ofSeconds(1L << Math.max(0, streak - 1));
        return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
    }
}
