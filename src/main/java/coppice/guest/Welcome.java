package coppice.guest;

import java.net.ProtocolException;
import java.util.Set;
import java.util.stream.Collectors;

/// What an agent says of itself. The texts are safe to show.
record Welcome(String agentVersion, String bootId, Set<String> capabilities, long window) {
    static final int VERSION = 1;

    Welcome {
        capabilities = Set.copyOf(capabilities);
    }

    static Welcome parse(Fields fields, Generation generation) throws ProtocolException {
        long version = fields.number(Tag.VERSION, Long.MAX_VALUE);
        if (version != VERSION) {
            throw new ProtocolException(
                    "the agent speaks version %d of the protocol, not %d"
                            .formatted(version, VERSION));
        }
        if (!fields.uuid(Tag.GENERATION).filter(generation.value()::equals).isPresent()) {
            throw new ProtocolException("the WELCOME is for another generation");
        }
        return new Welcome(
                GuestText.clean(fields.text(Tag.AGENT_VERSION).orElse("unknown")),
                GuestText.clean(fields.text(Tag.BOOT_ID).orElse("unknown")),
                fields.texts(Tag.CAPABILITY).stream()
                        .map(GuestText::clean)
                        .collect(Collectors.toUnmodifiableSet()),
                fields.number(Tag.WINDOW, Long.MAX_VALUE));
    }
}
