package coppice.dns;

import coppice.base.Size;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// How a [Resolver] forwards, and all its limits.
///
/// @param idleTime in which a TCP connection brings a whole query or takes a whole answer, else it is closed
public record ResolverSettings(
        Forwarding forwarding,
        CacheBounds cache,
        PerClient perClient,
        InAll inAll,
        Duration idleTime) {

    public static final ResolverSettings USUAL =
            new ResolverSettings(
                    new Forwarding(
                            List.of(),
                            Path.of("/etc/resolv.conf"),
                            Duration.ofMillis(1500),
                            Duration.ofSeconds(5),
                            true),
                    new CacheBounds(
                            20_000, Size.ofMib(16), Duration.ofDays(1), Duration.ofMinutes(5)),
                    new PerClient(200, 1000, 64, 8),
                    new InAll(4096, 1024, 256),
                    Duration.ofSeconds(10));

    /// Where names are asked that are not local.
    ///
    /// @param servers asked in this order; none: those that `resolvConf` names at the time
    /// @param attempt how long one server may take before the next one is asked
    /// @param deadline how long all of it may take before the client is told that it failed
    /// @param stripsPrivateAddresses whether records that lead to addresses or names inside are taken out of answers (DNS rebinding)
    public record Forwarding(
            List<InetSocketAddress> servers,
            Path resolvConf,
            Duration attempt,
            Duration deadline,
            boolean stripsPrivateAddresses) {
        public Forwarding {
            servers = List.copyOf(servers);
            if (!attempt.isPositive() || attempt.compareTo(deadline) > 0) {
                throw new IllegalArgumentException("an attempt takes time, and fits the deadline");
            }
        }
    }

    /// @param size of the messages and what it takes to find them
    /// @param maxTtl of answers
    /// @param maxNegativeTtl of answers that there is nothing
    public record CacheBounds(int entries, Size size, Duration maxTtl, Duration maxNegativeTtl) {}

    /// What one client may take. All that are unknown count as one.
    ///
    /// @param rate queries in a second, in the long run; each KiB that comes from upstream counts as another
    /// @param burst queries at once, after a pause
    /// @param maxForwarded queries waiting for an answer from upstream
    /// @param maxConnections over TCP
    public record PerClient(int rate, int burst, int maxForwarded, int maxConnections) {
        public PerClient {
            if (rate < 1 || burst < 1 || maxForwarded < 1 || maxConnections < 1) {
                throw new IllegalArgumentException("a client needs room for one query");
            }
        }
    }

    /// What all clients together may take.
    ///
    /// @param maxDatagrams queries over UDP that are being answered; further ones are dropped
    /// @param maxForwarded queries waiting for an answer from upstream
    /// @param maxConnections over TCP
    public record InAll(int maxDatagrams, int maxForwarded, int maxConnections) {
        public InAll {
            if (maxDatagrams < 1 || maxForwarded < 1 || maxConnections < 1) {
                throw new IllegalArgumentException("a resolver needs room for one query");
            }
        }
    }
}
