/// What a machine of the floor has for a network: a bare tap, without a rule anywhere.
///
/// @param isAlone whether the namespace is the machine's own, and comes and goes with it; else the tap is a port of the bridge there
record Wire(Namespace namespace, String tap, boolean isAlone) {
    static final String BRIDGE = "br0";

    private static final String ALONE =
            """
            ip netns add NAMESPACE
            ip -n NAMESPACE -batch - <<END
            tuntap add dev TAP mode tap
            link set TAP up
            END
            """;

    private static final String AT_A_BRIDGE =
            """
            ip -n NAMESPACE -batch - <<END
            tuntap add dev TAP mode tap
            link set TAP master BRIDGE up
            END
            """;

    static Wire alone(String namespace) {
        return new Wire(new Namespace(namespace), "tap0", true);
    }

    /// @param namespace with a bridge
    static Wire atBridge(Namespace namespace, int port) {
        return new Wire(namespace, "tap" + port, false);
    }

    void make() {
        Namespace.here(
                (isAlone ? ALONE : AT_A_BRIDGE)
                        .replace("NAMESPACE", namespace.name())
                        .replace("TAP", tap)
                        .replace("BRIDGE", BRIDGE));
    }

    void remove() {
        if (isAlone) {
            namespace.remove();
        } else {
            namespace.run("ip link del %s\n".formatted(tap));
        }
    }
}
