package coppice.ssh;

import java.time.Duration;

/// What one client, and all of them, may have.
///
/// @param connections of all
/// @param strangers connections that have not logged in
/// @param strangersOfAddress those of one address
/// @param ofVm connections to one VM
/// @param channels of one connection
/// @param attempts to log in, on one connection
/// @param grace how long a connection may take to log in
public record SshLimits(
        int connections,
        int strangers,
        int strangersOfAddress,
        int ofVm,
        int channels,
        int attempts,
        Duration grace) {
    public static final SshLimits USUAL =
            new SshLimits(2000, 200, 32, 64, 32, 6, Duration.ofSeconds(20));
}
