import java.util.List;

/// One end of a WireGuard tunnel, in a namespace: the kernel's where it has one, else the program, as the server has it.
///
/// @param device its name is no other's: the program is asked by it
record WireGuard(Namespace namespace, String device) {
    /// As clients of the server's tunnels have it.
    private static final int MTU = 1420;

    private static final String UP =
            """
            ip link add DEVICE type wireguard 2>/dev/null || {
              wireguard-go DEVICE </dev/null >/dev/null 2>&1
              wg show DEVICE >/dev/null
            }
            wg setconf DEVICE /dev/stdin <<END
            [Interface]
            PrivateKey = PRIVATE
            LISTEN
            [Peer]
            PublicKey = PEER
            AllowedIPs = ALLOWED
            ENDPOINT
            END
            ip addr add ADDRESS/32 dev DEVICE
            ip link set DEVICE mtu MTU up
            """;

    /// @param address of this end
    /// @param lines of the configuration that say where it listens, or where the other end does
    record Setting(
            String privateKey,
            String peerKey,
            String address,
            List<String> reached,
            String listen,
            String endpoint) {}

    static WireGuard start(Namespace namespace, String device, Setting setting) {
        namespace.run(
                UP.replace("DEVICE", device)
                        .replace("PRIVATE", setting.privateKey())
                        .replace("LISTEN", setting.listen())
                        .replace("PEER", setting.peerKey())
                        .replace("ALLOWED", String.join(", ", setting.reached()))
                        .replace("ENDPOINT", setting.endpoint())
                        .replace("ADDRESS", setting.address())
                        .replace("MTU", Integer.toString(MTU)));
        for (var range : setting.reached()) {
            namespace.run("ip route add %s dev %s\n".formatted(range, device));
        }
        return new WireGuard(namespace, device);
    }

    /// A program in a namespace keeps it; it ends with its interface.
    void stop() {
        namespace.run("ip link del %s\n".formatted(device));
    }
}
