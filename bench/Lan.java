import java.io.IOException;
import java.util.Optional;

/// Two machines of the floor at a plain bridge. Packets pass no rule, and no table of connections.
record Lan(Namespace namespace, HandGuest first, HandGuest second) implements AutoCloseable {
    /// Of every network of the floor.
    static final String RANGE = "10.99.0.0/24";

    private static final String NAME = "lan";

    static Lan make(Sample sample) throws Exception {
        var namespace = Namespace.make(NAME);
        namespace.run(
                """
                echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables
                echo 0 > /proc/sys/net/bridge/bridge-nf-call-ip6tables
                ip link add BRIDGE type bridge
                ip link set BRIDGE up
                """
                        .replace("BRIDGE", Wire.BRIDGE));
        return new Lan(namespace, machine(sample, namespace, 2), machine(sample, namespace, 3));
    }

    private static HandGuest machine(Sample sample, Namespace namespace, int number)
            throws Exception {
        var wire = Wire.atBridge(namespace, number);
        return HandGuest.start(sample, wire, number, Optional.empty());
    }

    static String address(int number) {
        return "10.99.0." + number;
    }

    @Override
    public void close() throws IOException {
        first.close();
        second.close();
        namespace.remove();
    }
}
