package coppice.dns;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The servers that foreign names are asked of. Those of the host are read when the file that names them has changed. Thread-safe.
final class Upstreams {
    private static final Logger LOG = LoggerFactory.getLogger(Upstreams.class);
    private static final Pattern NAMESERVER = Pattern.compile("\\s*nameserver\\s+(\\S+).*");
    private static final int PORT = 53;
    private static final int MAX_SERVERS = 8;

    private final ResolverSettings.Forwarding settings;
    private final InetSocketAddress self;
    private volatile Named named = new Named(Optional.empty(), List.of());
    private volatile Optional<InetSocketAddress> preferred = Optional.empty();

    /// What tells one state of a file from the next.
    private record Stamp(FileTime modified, long size, Object key) {
        static Stamp of(Path file) throws IOException {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(
                    attributes.lastModifiedTime(),
                    attributes.size(),
                    Objects.requireNonNullElse(attributes.fileKey(), file));
        }
    }

    /// What a file named, and in which state.
    private record Named(Optional<Stamp> stamp, List<InetSocketAddress> servers) {}

    /// @param self the resolver's own address, which it must not ask
    Upstreams(ResolverSettings.Forwarding settings, InetSocketAddress self) {
        this.settings = settings;
        this.self = self;
        if (servers().isEmpty()) {
            LOG.warn("{} names no nameserver: guests find no foreign names", settings.resolvConf());
        }
    }

    /// In the order in which they should be asked.
    List<InetSocketAddress> servers() {
        var all = settings.servers().isEmpty() ? ofHost() : settings.servers();
        var first = preferred.filter(all::contains);
        return Stream.concat(
                        first.stream(), all.stream().filter(s -> !first.equals(Optional.of(s))))
                .toList();
    }

    /// This one answered: it is asked first, so that one that does not is not waited for each time.
    void prefer(InetSocketAddress server) {
        preferred = Optional.of(server);
    }

    private List<InetSocketAddress> ofHost() {
        var before = named;
        try {
            var stamp = Optional.of(Stamp.of(settings.resolvConf()));
            if (!stamp.equals(before.stamp())) {
                named = new Named(stamp, read(settings.resolvConf()));
            }
        } catch (IOException | UncheckedIOException e) {
            // While it is being replaced it may not be there: the servers of before are as good as
            // any.
            LOG.debug("{} cannot be read", settings.resolvConf(), e);
        }
        return named.servers();
    }

    private List<InetSocketAddress> read(Path file) throws IOException {
        try (var lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return lines.map(NAMESERVER::matcher)
                    .filter(line -> line.matches())
                    .flatMap(line -> address(line.group(1)).stream())
                    .filter(server -> !server.equals(self))
                    .distinct()
                    .limit(MAX_SERVERS)
                    .toList();
        }
    }

    private static Optional<InetSocketAddress> address(String text) {
        try {
            return Optional.of(new InetSocketAddress(InetAddress.ofLiteral(text), PORT));
        } catch (IllegalArgumentException e) {
            LOG.debug("no address of a nameserver: {}", text, e);
            return Optional.empty();
        }
    }
}
