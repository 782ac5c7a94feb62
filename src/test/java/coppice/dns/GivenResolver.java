package coppice.dns;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// A resolver on loopback, and all that it needs, closed together. Its usual client is 127.0.0.2.
final class GivenResolver implements AutoCloseable {
    static final String ALICE = "127.0.0.2";
    static final String BOB = "127.0.0.3";
    static final String STRANGER = "127.0.0.9";

    static final ResolverSettings.PerClient USUAL_CLIENT = ResolverSettings.USUAL.perClient();

    final MovedClock clock = new MovedClock();
    final GivenNames names = new GivenNames().client(ALICE).client(BOB);
    final Resolver resolver;
    private final List<Client> clients = new ArrayList<>();

    GivenResolver(ResolverSettings settings) {
        this.resolver =
                Resolver.start(new InetSocketAddress("127.0.0.1", 0), settings, names, clock);
    }

    static GivenResolver forwardingTo(FakeUpstream... upstreams) {
        return new GivenResolver(settings(upstreams));
    }

    static ResolverSettings settings(FakeUpstream... upstreams) {
        return settings(forwarding(Duration.ofSeconds(4), Duration.ofSeconds(5), upstreams));
    }

    static ResolverSettings settings(ResolverSettings.Forwarding forwarding) {
        return settings(forwarding, ResolverSettings.USUAL.cache(), USUAL_CLIENT);
    }

    static ResolverSettings settings(
            ResolverSettings.Forwarding forwarding,
            ResolverSettings.CacheBounds cache,
            ResolverSettings.PerClient perClient) {
        return new ResolverSettings(
                forwarding,
                cache,
                perClient,
                ResolverSettings.USUAL.inAll(),
                ResolverSettings.USUAL.idleTime());
    }

    static ResolverSettings.Forwarding forwarding(
            Duration attempt, Duration deadline, FakeUpstream... upstreams) {
        return new ResolverSettings.Forwarding(
                Stream.of(upstreams).map(FakeUpstream::address).toList(),
                Path.of("no-such-file"),
                attempt,
                deadline,
                true);
    }

    Client alice() {
        return client(ALICE);
    }

    Client bob() {
        return client(BOB);
    }

    Client client(String address) {
        var client = new Client(address, resolver.port());
        clients.add(client);
        return client;
    }

    ResolverCounts counts() {
        return resolver.counts();
    }

    @Override
    public void close() {
        clients.forEach(Client::close);
        resolver.close();
    }
}
