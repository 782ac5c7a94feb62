package coppice.vm;

import coppice.guest.FileEvent;

/// What [WatchedTree#next] has to tell.
public sealed interface TreeNews {

    record Happened(FileEvent event) implements TreeNews {}

    /// Not for as long as was waited.
    record Nothing() implements TreeNews {}

    /// Nothing will be told any more: the VM has left the run in which the watch began, or the watch was closed.
    record Ended() implements TreeNews {}
}
