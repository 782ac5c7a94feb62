import java.util.List;

/// The same by hand: somebody at the other end of a wire, and WireGuard at both ends. Behind the near one is the tap of a machine.
///
/// @param away where the client is
record HandTunnel(Namespace away, WireGuard near, WireGuard far) implements AutoCloseable {
    private static final String NAME = "away";
    private static final String NEAR_WIRE = "10.97.0.1";
    private static final String FAR_WIRE = "10.97.0.2";
    private static final String NEAR_END = "10.98.0.1";
    private static final String FAR_END = "10.98.0.2";
    private static final int PORT = 51820;

    private static final String WIRE =
            """
            ip link add wire0 type veth peer name wire0 netns AWAY
            ip addr add NEAR/24 dev wire0
            ip link set wire0 up
            ip -n AWAY addr add FAR/24 dev wire0
            ip -n AWAY link set wire0 up
            echo 1 > /proc/sys/net/ipv4/ip_forward
            """;

    static HandTunnel make(Lone lone) {
        var here = lone.host().namespace();
        var away = Namespace.make(NAME);
        here.run(WIRE.replace("AWAY", NAME).replace("NEAR", NEAR_WIRE).replace("FAR", FAR_WIRE));
        var nearKey = here.run("wg genkey\n").strip();
        var farKey = here.run("wg genkey\n").strip();
        var near =
                WireGuard.start(
                        here,
                        "bench1",
                        new WireGuard.Setting(
                                nearKey,
                                publicKey(here, farKey),
                                NEAR_END,
                                List.of(FAR_END + "/32"),
                                "ListenPort = " + PORT,
                                ""));
        var far =
                WireGuard.start(
                        away,
                        "bench2",
                        new WireGuard.Setting(
                                farKey,
                                publicKey(here, nearKey),
                                FAR_END,
                                List.of(Lan.RANGE),
                                "",
                                "Endpoint = %s:%d".formatted(NEAR_WIRE, PORT)));
        return new HandTunnel(away, near, far);
    }

    private static String publicKey(Namespace namespace, String key) {
        return namespace.run("echo %s | wg pubkey\n".formatted(key)).strip();
    }

    @Override
    public void close() {
        far.stop();
        near.stop();
        away.remove();
    }
}
