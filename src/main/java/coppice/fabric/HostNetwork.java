package coppice.fabric;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.process.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// What this machine has for networks of VMs.
public final class HostNetwork {
    private static final Duration TIME = Duration.ofSeconds(5);
    private static final Path BRIDGE_FILTER = Path.of("/proc/sys/net/bridge");

    private HostNetwork() {}

    /// Says what there is; `UNAVAILABLE` names what is missing, and the remedy.
    public static String describe() {
        if (!Files.exists(BRIDGE_FILTER) && !isModule("br_netfilter")) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the kernel has no br_netfilter, which private networks need; install a kernel that has");
        }
        var nft = Command.of("nft", "--version").runOrFail(Deadline.in(TIME)).split(" ");
        return "nftables %s, %s".formatted(nft.length > 1 ? nft[1] : "", wireGuard());
    }

    private static String wireGuard() {
        if (Files.exists(Path.of("/sys/module/wireguard")) || isModule("wireguard")) {
            return "WireGuard in the kernel";
        }
        Command.of("wireguard-go", "--version").runOrFail(Deadline.in(TIME));
        return "WireGuard as a program, which is slower";
    }

    private static boolean isModule(String name) {
        return Command.of("modprobe", "-n", "-q", name).run(Deadline.in(TIME)).status() == 0;
    }
}
