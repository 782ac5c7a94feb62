import java.io.IOException;
import java.util.Optional;

/// A machine of the floor whose tap ends at the host: its namespace, which has an address there and serves.
record Lone(HandGuest guest, Outside host) implements AutoCloseable {
    private static final String NAME = "lone";
    private static final int HOST = 1;
    private static final int GUEST = 2;

    static Lone make(Sample sample) throws Exception {
        var wire = Wire.alone(NAME);
        var gateway = Lan.address(HOST);
        var guest = HandGuest.start(sample, wire, GUEST, Optional.of(gateway));
        wire.namespace().run("ip addr add %s/24 dev %s\n".formatted(gateway, wire.tap()));
        return new Lone(guest, Outside.serving(wire.namespace(), gateway));
    }

    @Override
    public void close() throws IOException {
        host.close();
        guest.close();
    }
}
