package coppice.guest;

import java.net.ProtocolException;
import java.util.Optional;

/// How the process of a terminal ended, as the guest's kernel said.
public sealed interface TerminalEnd {
    record Exited(int status) implements TerminalEnd {}

    record Signalled(int signal) implements TerminalEnd {}

    /// Empty if it has not ended.
    static Optional<TerminalEnd> of(Fields fields) throws ProtocolException {
        boolean exited = fields.has(Tag.EXIT_STATUS);
        boolean signalled = fields.has(Tag.SIGNAL);
        if (exited && signalled) {
            throw new ProtocolException("a terminal ended in several ways");
        }
        if (exited) {
            return Optional.of(new Exited((int) fields.number(Tag.EXIT_STATUS, 255)));
        }
        return signalled
                ? Optional.of(new Signalled((int) fields.number(Tag.SIGNAL, 127)))
                : Optional.empty();
    }
}
