package coppice.fabric;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.base.IpAddress;
import coppice.base.RandomText;
import coppice.base.Undo;
import coppice.process.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// A host of its own in a network namespace, and beside it an Internet of one host in another one. In each there is a [Probe]. Closing it
/// leaves nothing behind.
final class Ground implements AutoCloseable {
    /// Hosts of the Internet are in these ranges, which IANA has given to servers that answer for nobody (AS112, RFC 7534 and 7535), so
    /// that they count as public; they are nowhere but in the namespaces of tests.
    static final IpAddress INTERNET = IpAddress.stored("192.175.48.1");

    static final IpAddress INTERNET_V6 = IpAddress.stored("2620:4f:8000::1");

    /// The host's own in that Internet: what its guests are seen as.
    static final IpAddress HOST = IpAddress.stored("192.175.48.254");

    static final IpAddress HOST_V6 = IpAddress.stored("2620:4f:8000::fe");

    /// Where clouds have a service that tells VMs their secrets. The host has it too.
    static final IpAddress METADATA = IpAddress.stored("169.254.169.254");

    /// On which everybody listens.
    static final List<Integer> PORTS = List.of(22, 25, 53, 80, 443, 465, 587, 7000);

    static final String HOSTS_NAME = "host";
    static final String INTERNETS_NAME = "internet";

    private final String id = newId();
    private final Undo end = new Undo();
    private final Path directory;
    private final Path program;
    private final Probe internet;
    private final Probe host;

    Ground() {
        requireMeans();
        boolean isReady = false;
        try {
            directory = makeDirectory();
            program = Probe.compile(directory);
            make(HOSTS_NAME, end);
            make(INTERNETS_NAME, end);
            connect();
            internet = end.add(probe(INTERNETS_NAME, "eth0"));
            host = end.add(probe(HOSTS_NAME, "net0"));
            isReady = true;
        } finally {
            if (!isReady) {
                end.close();
            }
        }
    }

    /// Skips the test where namespaces cannot be made, or not be filled.
    static void requireMeans() {
        assumeTrue(succeeds("test $(id -u) = 0"), "skipped: network namespaces need root");
        for (var tool : List.of("ip", "nft", "conntrack", "gcc", "wg")) {
            assumeTrue(
                    succeeds("command -v " + tool), "skipped: %s is not installed".formatted(tool));
        }
        assumeTrue(
                succeeds("modprobe -q br_netfilter; test -e /proc/sys/net/bridge"),
                "skipped: the kernel has no br_netfilter");
    }

    private static boolean succeeds(String command) {
        return Command.of("sh", "-c", command).run(Deadline.in(Duration.ofSeconds(10))).status()
                == 0;
    }

    static String newId() {
        return HexFormat.of().formatHex(RandomText.bytes(4));
    }

    private Path makeDirectory() {
        try {
            var made = Files.createTempDirectory("lab");
            end.onFailure(() -> remove(made));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path directory) {
        try (var files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void connect() {
        run(
                HOSTS_NAME,
                """
                echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
                ip link add net0 type veth peer name eth0 netns %s
                ip addr add %s/24 dev net0
                ip addr add %s/48 dev net0 nodad
                ip addr add %s/32 dev lo
                ip link set net0 up
                """
                        .formatted(namespace(INTERNETS_NAME), HOST, HOST_V6, METADATA));
        run(
                INTERNETS_NAME,
                """
                echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad
                ip addr add %s/24 dev eth0
                ip addr add %s/48 dev eth0 nodad
                ip link set eth0 up
                """
                        .formatted(INTERNET, INTERNET_V6));
    }

    Path directory() {
        return directory;
    }

    Probe internet() {
        return internet;
    }

    Probe host() {
        return host;
    }

    String namespace(String of) {
        return "lab-%s-%s".formatted(id, of);
    }

    /// Makes a namespace.
    ///
    /// @param owner removes it in the end
    void make(String of, Undo owner) {
        var name = namespace(of);
        var script = new Script(Optional.empty());
        script.here("ip netns add %s\n".formatted(name));
        owner.onFailure(() -> script.here("ip netns del %s\n".formatted(name)));
        run(of, "ip link set lo up\n");
    }

    void run(String in, String lines) {
        new Script(Optional.empty()).in(namespace(in), lines);
    }

    Probe probe(String in, String device) {
        return new Probe(program, namespace(in), device, PORTS);
    }

    @Override
    public void close() {
        end.close();
    }
}
