package coppice.vm;

import java.time.Duration;

/// How many machines are kept ready.
///
/// @param size the most on this host; 0: none
/// @param window how long after its last use a snapshot is still kept ready
public record PoolLimits(int size, Duration window) {
    /// Nothing is kept ready.
    public static final PoolLimits NONE = new PoolLimits(0, Duration.ofSeconds(1));
}
