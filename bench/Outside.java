import java.io.IOException;
import java.util.List;

/// A namespace that serves.
record Outside(Namespace namespace, String address, Process server) implements AutoCloseable {
    private static final String INTERNET = "internet";

    /// Of AS112 (RFC 7534), which answers for nobody: guests may go nowhere but to public addresses.
    private static final String IPV4 = "192.175.48.1";

    /// Where the bench's host is reached from the Internet.
    static final String HOST_IPV4 = "192.175.48.254";

    /// What guests of the server reach as the Internet: a namespace at the other end of the host's wire.
    static Outside internet() throws IOException {
        var namespace = Namespace.make(INTERNET);
        Namespace.here(
                """
                ip link add net0 type veth peer name eth0 netns NAME
                ip addr add HOST/24 dev net0
                ip link set net0 up
                ip -n NAME addr add ADDRESS/24 dev eth0
                ip -n NAME link set eth0 up
                """
                        .replace("NAME", INTERNET)
                        .replace("HOST", HOST_IPV4)
                        .replace("ADDRESS", IPV4));
        return serving(namespace, IPV4);
    }

    static Outside serving(Namespace namespace, String address) throws IOException {
        var line = namespace.inside(List.of(Flow.program().toString(), "serve", "" + Flow.PORT));
        return new Outside(namespace, address, new ProcessBuilder(line).inheritIO().start());
    }

    /// Its namespace is left: it may be somebody else's, and goes with the bench.
    @Override
    public void close() {
        server.destroyForcibly();
        server.onExit().join();
    }
}
