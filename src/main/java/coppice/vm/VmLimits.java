package coppice.vm;

import java.time.Duration;
import java.util.Optional;

/// How long things may take, and how many there may be.
///
/// @param start the longest that a create or a start may take
/// @param pause the longest that a capture may take
/// @param powerOff how long a guest has to power itself off before it is cut
/// @param runningVms how many VMs of one account may run; absent: no limit
/// @param allVms how many VMs one account may have; absent: no limit
/// @param snapshots how many snapshots one account may have; absent: no limit
/// @param pool how many machines are kept ready
public record VmLimits(
        Duration start,
        Duration pause,
        Duration powerOff,
        Optional<Integer> runningVms,
        Optional<Integer> allVms,
        Optional<Integer> snapshots,
        PoolLimits pool) {}
