package coppice.dns;

import java.time.Duration;

/// An answer from upstream.
///
/// @param lifetime how long it may be given to others
record Found(Answer answer, Duration lifetime) {}
