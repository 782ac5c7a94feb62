package coppice.store;

import java.time.Duration;

/// How much may wait in a [Store], and for how long.
///
/// @param queue how many writes may wait, and how many reads; the next one is refused
/// @param group how many writes may share one commit
/// @param patience how long a caller waits for its answer
/// @param lockWait how long SQLite waits for another process that writes to the same file; below `patience` to be of use
/// @param longWork how long opening (with its migrations) or a backup may take
public record StoreLimits(
        int queue, int group, Duration patience, Duration lockWait, Duration longWork) {
    public static final StoreLimits USUAL =
            new StoreLimits(
                    4096,
                    256,
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(8),
                    Duration.ofMinutes(10));

    public StoreLimits {
        if (queue < 1 || group < 1) {
            throw new IllegalArgumentException("queue and group must be at least 1");
        }
    }
}
