package coppice.ssh;

import coppice.guest.ExecOutcome;
import coppice.guest.TerminalEnd;

/// How what ran on a channel has ended, for its client.
sealed interface Ending {
    /// What an SSH client itself exits with when something else fails than the command.
    int FAILED = 255;

    record Exited(int status) implements Ending {}

    record Signalled(int number) implements Ending {}

    static Ending of(ExecOutcome outcome) {
        return switch (outcome) {
            case ExecOutcome.Exited(int status, _) -> new Exited(status);
            case ExecOutcome.Signalled(int number, _) -> new Signalled(number);
            case ExecOutcome.TimedOut _ -> new Exited(FAILED);
        };
    }

    static Ending of(TerminalEnd end) {
        return switch (end) {
            case TerminalEnd.Exited(int status) -> new Exited(status);
            case TerminalEnd.Signalled(int number) -> new Signalled(number);
        };
    }
}
