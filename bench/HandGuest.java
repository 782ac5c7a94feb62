import coppice.guest.NetworkSettings;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/// A machine of the floor with an address. It has a control group like each VM of the server: traffic keeps more than one thread of a QEMU
/// busy, and the kernel gives what is in a group another share of the processors than what is in none.
record HandGuest(Floor floor, ControlGroup group, String address) implements End, AutoCloseable {
    private static final int MTU = 1500;
    private static final int PREFIX = 24;

    /// A machine like the sample.
    ///
    /// @param number of its own in its network
    /// @param gateway if there is a way out
    static HandGuest start(Sample sample, Wire wire, int number, Optional<String> gateway)
            throws Exception {
        var guest =
                new HandGuest(
                        sample.floor(wire),
                        sample.group(wire.namespace().name() + number),
                        Lan.address(number));
        var floor = guest.floor();
        floor.make();
        floor.restore(sample.command(floor), sample.capture(), true);
        for (var entrance : guest.group().entrances()) {
            Files.writeString(entrance, Long.toString(floor.pid()));
        }
        floor.join(
                new NetworkSettings(
                        "02:00:00:00:be:%02x".formatted(number),
                        MTU,
                        List.of(guest.address() + "/" + PREFIX),
                        gateway.stream().toList(),
                        List.of(),
                        List.of()));
        floor.output(
                "cat >PROGRAM && chmod 755 PROGRAM".replace("PROGRAM", Flow.IN_A_GUEST),
                Flow.bytes());
        floor.exec(Flow.SERVE);
        return guest;
    }

    @Override
    public String flow(String arguments) throws IOException {
        return floor.output(Flow.IN_A_GUEST + " " + arguments, new byte[0]);
    }

    @Override
    public void close() throws IOException {
        floor.close();
        group.delete();
    }
}
