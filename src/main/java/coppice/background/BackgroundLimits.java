package coppice.background;

import coppice.base.Size;
import java.time.Duration;

/// How many requests may go on in the background, and how much of what came of them is kept. A request for which there is no room to go
/// on in the background is waited for; a result for which there is none is not kept.
///
/// @param running at once, of all accounts
/// @param runningOfAccount at once, of one account
/// @param records of one account, running and finished
/// @param body the largest body of a result
/// @param kept all results of one account
/// @param keptOfAll all results
/// @param keep for how long after the end of a request
/// @param drain how long a server that stops waits for requests that no later one can go on with
public record BackgroundLimits(
        int running,
        int runningOfAccount,
        int records,
        Size body,
        Size kept,
        Size keptOfAll,
        Duration keep,
        Duration drain) {

    public static final BackgroundLimits USUAL =
            new BackgroundLimits(
                    8192,
                    2048,
                    100_000,
                    Size.ofMib(64),
                    Size.ofMib(1024),
                    Size.ofMib(4096),
                    Duration.ofMinutes(10),
                    Duration.ofSeconds(10));
}
