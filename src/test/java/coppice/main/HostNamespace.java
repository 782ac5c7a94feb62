package coppice.main;

import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A host without a network but a wire to this one: what a server does to the network of its machine, it does here.
///
/// @param address of the server, at its end of the wire
record HostNamespace(String name, String address) {
    private static final Path NAMESPACES = Path.of("/run/netns");

    /// @param number of its own among those of this machine, below 16384
    static HostNamespace make(int number) {
        var near = address(number, 1);
        var host = new HostNamespace("coppice-it-" + number, address(number, 2));
        sh(
                """
                set -e
                ip netns add NAME
                ip link add itNUMBER type veth peer name wire netns NAME
                ip addr add NEAR/30 dev itNUMBER
                ip link set itNUMBER up
                ip -n NAME addr add FAR/30 dev wire
                ip -n NAME link set wire up
                ip -n NAME link set lo up
                """
                        .replace("NAME", host.name())
                        .replace("NUMBER", Integer.toString(number))
                        .replace("NEAR", near)
                        .replace("FAR", host.address()));
        return host;
    }

    /// Link-local addresses (RFC 3927), four for each.
    private static String address(int number, int which) {
        int bits = number * 4 + which;
        return "169.254.%d.%d".formatted(bits >> 8, bits & 0xff);
    }

    /// The command line of a program, so that it runs in here.
    List<String> inside(List<String> line) {
        var all = new ArrayList<>(List.of("nsenter", "--net=" + NAMESPACES.resolve(name)));
        all.addAll(line);
        return all;
    }

    List<String> namespaces(String instance) {
        try (var entries = Files.list(NAMESPACES)) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(entry -> entry.startsWith("coppice-" + instance + "-"))
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void make(String instance, String network) {
        sh("ip netns add coppice-%s-%s".formatted(instance, network));
    }

    /// Removes it and what a server has left of its networks, whose processes have ended.
    void close(String instance) {
        namespaces(instance).forEach(namespace -> sh("ip netns del " + namespace));
        sh("ip netns del " + name);
    }

    private static void sh(String lines) {
        new Command(List.of("sh")).reading(lines).runOrFail(Deadline.in(Duration.ofSeconds(10)));
    }
}
