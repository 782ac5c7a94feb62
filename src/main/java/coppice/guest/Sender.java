package coppice.guest;

import java.util.Optional;

/// Has frames to send from time to time. Asked by the writer thread of the connection, one frame a turn.
interface Sender {
    /// The next frame; empty when there is nothing to send now.
    Optional<Frame> next();
}
