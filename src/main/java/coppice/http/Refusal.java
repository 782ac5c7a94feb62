package coppice.http;

import coppice.base.Failure;
import java.util.Optional;

/// A request that the server itself turns away. `path` is absent when the request could not be understood so far.
public record Refusal(int status, Failure why, Optional<String> path) {}
