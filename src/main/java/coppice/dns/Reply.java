package coppice.dns;

/// What became of asking one server.
sealed interface Reply {
    /// It knows, also that there is nothing.
    record Known(Response response) implements Reply {}

    /// It has nothing to say about this, or is not there: asking it again is no use.
    record Useless() implements Reply {}

    /// It did not answer in time.
    record Silent() implements Reply {}
}
