package coppice.vm;

/// Why a [Viewer] sees nothing more.
public enum ViewerEnd {
    /// Whoever looked has gone.
    DETACHED,
    /// Somebody closed the session.
    CLOSED,
    /// The VM stopped, and its sessions with it.
    STOPPED,
    /// More came than was taken, and some of it is not kept any more.
    TOO_SLOW,
    /// Whoever looked may do so no longer.
    REVOKED,
    /// The guest does not let itself be reached although it runs.
    LOST
}
