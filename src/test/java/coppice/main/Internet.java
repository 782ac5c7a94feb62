package coppice.main;

import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// An Internet for an installation: a network namespace at its host's other wire, with one web server, which answers with the address of
/// whoever asks. Its addresses are of AS112 (RFC 7534), which answers for nobody; no packet leaves this machine.
final class Internet implements AutoCloseable {
    static final String IPV4 = "192.175.48.1";
    static final String IPV6 = "2620:4f:8000::1";

    /// Of which VMs get their public addresses.
    static final String RANGE = "2001:db8:77::/64";

    private static final String WHO =
            """
            #!/bin/sh
            printf 'Content-Type: text/plain\\r\\n\\r\\n'
            echo "$REMOTE_ADDR" | sed 's/[][]//g; s/^::ffff://'
            """;

    private static final String MAKING =
            """
            set -e
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            ip netns add NAME
            nsenter --net=/run/netns/HOST sh -e <<END
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            ip link add net0 type veth peer name eth0 netns NAME
            ip addr add 192.175.48.254/24 dev net0
            ip addr add 2620:4f:8000::fe/48 dev net0 nodad
            ip link set net0 up
            ip addr add 169.254.169.254/32 dev lo
            END
            nsenter --net=/run/netns/NAME sh -e <<END
            ip link set lo up
            ip addr add 192.175.48.1/24 dev eth0
            ip addr add 2620:4f:8000::1/48 dev eth0 nodad
            ip link set eth0 up
            ip route add 2001:db8:77::/64 via 2620:4f:8000::fe
            END
            """;

    private final String name;
    private final Path pages;
    private final Process server;

    /// @param host the namespace of the installation's host
    Internet(String host) {
        this.name = host + "-net";
        sh(MAKING.replace("NAME", name).replace("HOST", host));
        try {
            pages = Files.createTempDirectory("internet");
            var who = Files.createDirectories(pages.resolve("cgi-bin")).resolve("who");
            Files.writeString(who, WHO);
            Files.setPosixFilePermissions(who, PosixFilePermissions.fromString("rwxr-xr-x"));
            server =
                    new ProcessBuilder(
                                    "nsenter",
                                    "--net=/run/netns/" + name,
                                    "busybox",
                                    "httpd",
                                    "-f",
                                    "-p",
                                    "80",
                                    "-h",
                                    pages.toString())
                            .start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Runs lines of shell there and returns their exit status.
    int run(String lines) {
        return new Command(List.of("nsenter", "--net=/run/netns/" + name, "sh"))
                .reading(lines)
                .run(Deadline.in(Duration.ofSeconds(20)))
                .status();
    }

    /// Asks a VM for a page.
    ///
    /// @return 0 if it answered
    int fetch(String address) {
        return run("curl -sf -m 2 http://[%s]/page".formatted(address));
    }

    private static void sh(String lines) {
        new Command(List.of("sh")).reading(lines).runOrFail(Deadline.in(Duration.ofSeconds(10)));
    }

    @Override
    public void close() {
        server.destroyForcibly();
        sh("ip netns del " + name);
        coppice.disk.Published.delete(pages);
    }
}
