package coppice.guest;

/// How a command ended, as the guest's kernel said.
public sealed interface ExecOutcome {
    Output output();

    record Exited(int status, Output output) implements ExecOutcome {}

    record Signalled(int signal, Output output) implements ExecOutcome {}

    /// The guest killed it at its time limit.
    record TimedOut(Output output) implements ExecOutcome {}
}
