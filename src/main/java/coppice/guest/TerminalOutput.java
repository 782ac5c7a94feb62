package coppice.guest;

import coppice.base.Failure;

/// What a look at a terminal's output finds. After all but `Bytes` and `Nothing`, nothing more comes on this stream.
public sealed interface TerminalOutput {
    /// The next bytes, at least one.
    record Bytes(byte[] bytes) implements TerminalOutput {}

    /// Nothing came while it was waited for.
    record Nothing() implements TerminalOutput {}

    /// The process of the session has ended, and all its output came.
    record Ended(TerminalEnd end) implements TerminalOutput {}

    /// The connection ended, not the session. Attach on the next [Guest] of the VM, at [TerminalStream#offset].
    record Cut(Failure why) implements TerminalOutput {}

    /// More came than was taken, and the guest has dropped some of it.
    record TooSlow() implements TerminalOutput {}

    /// Somebody closed the session.
    record Closed() implements TerminalOutput {}
}
