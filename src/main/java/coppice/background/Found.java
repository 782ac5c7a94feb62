package coppice.background;

import coppice.http.HttpResponse;
import java.util.Optional;

/// How it stands with a request.
///
/// @param origin who started it
/// @param resumption of a command in a VM: in which, and as whom
public record Found(BackgroundId id, Origin origin, Optional<Resumption> resumption, State state) {

    public sealed interface State {
        record Running() implements State {}

        /// As its caller would have got it.
        record Finished(HttpResponse answer) implements State {}

        /// What came of it was too large to keep.
        record Unstorable() implements State {}
    }
}
