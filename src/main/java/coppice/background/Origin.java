package coppice.background;

import coppice.identity.Caller;

/// Where a background request came from.
///
/// @param operation the name of the operation, which tells its family
/// @param path as it was called
public record Origin(Caller caller, String operation, String path) {}
