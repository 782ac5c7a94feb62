package coppice.guest;

import java.time.InstantSource;
import java.util.Optional;

/// What the host tells an agent first. `clock` is read when the frame is made, and again if the agent took long to answer. `entropy` is 64
/// fresh random bytes. A copy of another VM has an `identity`; a boot or a plain resume has none.
public record Hello(
        Generation generation, InstantSource clock, byte[] entropy, Optional<Identity> identity) {
    private static final int ENTROPY = 64;

    public Hello {
        if (entropy.length != ENTROPY) {
            throw new IllegalArgumentException("entropy has 64 bytes, not " + entropy.length);
        }
        entropy = entropy.clone();
    }

    Frame frame() {
        var fields =
                new FieldsWriter()
                        .number(Tag.VERSION, Welcome.VERSION)
                        .uuid(Tag.GENERATION, generation.value())
                        .instant(Tag.WALL_CLOCK, clock.instant())
                        .bytes(Tag.ENTROPY, entropy)
                        .number(Tag.WINDOW, Inlet.WINDOW);
        identity.ifPresent(
                who ->
                        fields.text(Tag.HOSTNAME, who.hostname())
                                .text(Tag.MACHINE_ID, who.machineId()));
        return Frame.fields(FrameKind.HELLO, 0, fields.toBytes());
    }
}
