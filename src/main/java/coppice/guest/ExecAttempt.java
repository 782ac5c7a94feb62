package coppice.guest;

import coppice.base.Failure;

/// What came of waiting for a command on one connection.
public sealed interface ExecAttempt {
    record Ended(ExecOutcome outcome) implements ExecAttempt {}

    /// The connection ended before the command did. Go on with the same [RunningExec] on the next [Guest] of the VM.
    record Cut(Failure why) implements ExecAttempt {}

    /// The guest does not know the command, or not any more: it never got it, it was rebooted meanwhile, or it no longer keeps the
    /// result. How the command ended cannot be found out.
    record Lost() implements ExecAttempt {}
}
