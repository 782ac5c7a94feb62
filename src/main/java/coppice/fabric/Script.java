package coppice.fabric;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.process.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Runs lines of shell in a network namespace; the first that fails ends it and fails the call.
///
/// @param host the namespace that is the host's; absent: the server's own
record Script(Optional<String> host) {
    private static final Path NAMESPACES = Path.of("/run/netns");
    private static final Duration TIME = Duration.ofSeconds(30);

    /// Where a namespace is bound.
    static Path path(String namespace) {
        return NAMESPACES.resolve(namespace);
    }

    static boolean exists(String namespace) {
        return Files.exists(path(namespace));
    }

    /// The namespaces whose names begin so.
    static List<String> names(String prefix) {
        try (var entries = Files.list(NAMESPACES)) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .toList();
        } catch (java.io.IOException e) {
            return List.of(); // none was ever made
        }
    }

    /// Whoever owns a tap may open it; that is what the kernel looks at, and udev gives the device these rights wherever it runs.
    void allowTaps() {
        here(
                """
                modprobe -q tun || true
                test -e /dev/net/tun || { mkdir -p /dev/net; mknod /dev/net/tun c 10 200; }
                chmod 0666 /dev/net/tun
                """);
    }

    /// Lines, as part of others, that are run there.
    static String lines(String namespace, String lines) {
        return "nsenter --net=%s sh -e <<'INSIDE'\n%sINSIDE\n".formatted(path(namespace), lines);
    }

    void in(String namespace, String lines) {
        ask(namespace, lines);
    }

    /// @return what was printed
    String ask(String namespace, String lines) {
        return run(List.of("nsenter", "--net=" + path(namespace), "sh", "-e"), lines);
    }

    /// Tells nftables something.
    void nft(String namespace, String lines) {
        run(List.of("nsenter", "--net=" + path(namespace), "nft", "-f", "-"), lines);
    }

    /// Tells `ip` something there, a line each.
    void ip(String namespace, String lines) {
        run(List.of("ip", "-n", namespace, "-batch", "-"), lines);
    }

    /// On the host's side.
    void here(String lines) {
        host.ifPresentOrElse(name -> in(name, lines), () -> run(List.of("sh", "-e"), lines));
    }

    private static String run(List<String> line, String lines) {
        var outcome = new Command(line).reading(lines).run(Deadline.in(TIME));
        if (outcome.status() != 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the host's network could not be set up: " + outcome.output().strip());
        }
        return outcome.output();
    }
}
