package coppice.dns;

import coppice.base.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;

/// Asks the servers upstream, one after the other. One that is silent is asked again when the others were; one that answers without knowing
/// is not.
final class Forwarder {
    private final Upstreams upstreams;
    private final RandomGenerator random;
    private final ResolverSettings.Forwarding settings;

    /// @param random not to be guessed
    Forwarder(Upstreams upstreams, RandomGenerator random, ResolverSettings.Forwarding settings) {
        this.upstreams = upstreams;
        this.random = random;
        this.settings = settings;
    }

    /// Empty: none of them knows, or none in time.
    ///
    /// @param heard told the length of each message that comes
    Optional<Response> ask(Wanted wanted, IntConsumer heard) {
        var deadline = Deadline.in(settings.deadline());
        var exchange = new Exchange(random, wanted, heard);
        var servers = new ArrayList<>(upstreams.servers());
        while (!servers.isEmpty() && !deadline.isPast()) {
            for (var server : List.copyOf(servers)) {
                switch (exchange.ask(server, deadline.atMost(settings.attempt()))) {
                    case Reply.Known(var response) -> {
                        upstreams.prefer(server);
                        return Optional.of(response);
                    }
                    case Reply.Useless _ -> servers.remove(server);
                    case Reply.Silent _ -> {}
                }
            }
        }
        return Optional.empty();
    }
}
