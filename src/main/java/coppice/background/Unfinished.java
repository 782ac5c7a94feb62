package coppice.background;

import java.util.Optional;

/// A request that was running when its server ended.
///
/// @param resumption absent: it cannot be gone on with
public record Unfinished(BackgroundId id, Origin origin, Optional<Resumption> resumption) {}
