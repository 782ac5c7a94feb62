package coppice.process;

import java.time.Duration;
import java.util.Optional;

/// The time that a process has spent on processors, for whoever asks all the time: it is looked up some times a second at most, since
/// the kernel takes longer to tell than all else takes that a caller wants to know of a VM.
public final class CpuClock {
    private static final Duration FRESH = Duration.ofMillis(200);

    private final ProcessId process;
    private volatile Reading last;

    private record Reading(long nanoTime, Optional<Duration> time) {
        boolean isFresh() {
            return System.nanoTime() - nanoTime < FRESH.toNanos();
        }
    }

    public CpuClock(ProcessId process) {
        this.process = process;
        this.last = new Reading(System.nanoTime() - FRESH.toNanos(), Optional.empty());
    }

    /// As [ProcessId#cpuTime] was at most 0.2 s ago.
    public Optional<Duration> read() {
        var known = last;
        if (known.isFresh()) {
            return known.time;
        }
        var now = new Reading(System.nanoTime(), process.cpuTime());
        last = now;
        return now.time;
    }
}
