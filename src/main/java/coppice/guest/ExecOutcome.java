package coppice.guest;

import java.util.Optional;

/// How a command ended, as the guest's kernel said.
public sealed interface ExecOutcome {
    Output output();

    /// As a shell tells it: the exit status, or 128+n for signal n; empty when it was killed at its time limit.
    default Optional<Integer> shellStatus() {
        return switch (this) {
            case Exited(var status, _) -> Optional.of(status);
            case Signalled(var signal, _) -> Optional.of(128 + signal);
            case TimedOut _ -> Optional.empty();
        };
    }

    record Exited(int status, Output output) implements ExecOutcome {}

    record Signalled(int signal, Output output) implements ExecOutcome {}

    /// The guest killed it at its time limit.
    record TimedOut(Output output) implements ExecOutcome {}
}
