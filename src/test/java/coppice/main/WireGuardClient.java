package coppice.main;

import java.util.List;
import java.util.stream.Collectors;

/// Somebody's machine on the Internet with a WireGuard that has the configuration that it was given.
final class WireGuardClient implements AutoCloseable {
    private final Internet internet;
    private final String device;

    /// @param config as wg-quick(8) reads it
    WireGuardClient(Internet internet, String config) {
        this.internet = internet;
        this.device = "wgc%d".formatted(ProcessHandle.current().pid());
        var forWg =
                config.lines()
                        .filter(line -> !line.startsWith("Address"))
                        .collect(Collectors.joining("\n"));
        require(
                """
                set -e
                ip link add DEVICE type wireguard 2>/dev/null || {
                  wireguard-go DEVICE </dev/null >/dev/null 2>&1
                }
                wg setconf DEVICE /dev/stdin <<END
                CONFIG
                END
                ip link set DEVICE mtu 1420 up
                """
                        .replace("DEVICE", device)
                        .replace("CONFIG", forWg));
        values(config, "Address").forEach(this::add);
        for (var route : values(config, "AllowedIPs")) {
            require("ip route add %s dev %s".formatted(route, device));
        }
    }

    private static List<String> values(String config, String key) {
        return config.lines()
                .filter(line -> line.startsWith(key + " = "))
                .flatMap(line -> List.of(line.substring(key.length() + 3).split(", ")).stream())
                .toList();
    }

    /// Has one more address, behind the tunnel.
    void add(String address) {
        require("ip addr add %s dev %s".formatted(address, device));
    }

    boolean fetches(String host) {
        return internet.run("curl -sf -m 2 -o /dev/null http://%s/page".formatted(host)) == 0;
    }

    private void require(String lines) {
        int status = internet.run(lines);
        if (status != 0) {
            throw new AssertionError("status %d of: %s".formatted(status, lines));
        }
    }

    @Override
    public void close() {
        internet.run("ip link del " + device);
    }
}
