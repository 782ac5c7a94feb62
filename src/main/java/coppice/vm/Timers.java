package coppice.vm;

import java.time.Duration;
import java.util.Optional;

/// The limits of a VM's life. An absent one is no limit.
///
/// @param idle since the last activity, while running: then it is paused
/// @param autoDelete not running for this long: then it is deleted; zero deletes it on entering rest
/// @param ttl since its creation: then it is deleted
/// @param maxRun since it entered running: then it is paused
/// @param maxRunTotal of all its runs together: then it is paused, and not started again
public record Timers(
        Optional<Duration> idle,
        Optional<Duration> autoDelete,
        Optional<Duration> ttl,
        Optional<Duration> maxRun,
        Optional<Duration> maxRunTotal) {
    public static final Timers NONE =
            new Timers(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());
}
