package coppice.vm;

import coppice.base.Slug;
import java.time.Duration;
import java.util.Optional;

/// What a snapshot that is taken of a VM is to be.
///
/// @param autoDelete without a VM made from it for this long: then it is deleted
/// @param ttl since it was taken: then it is deleted
public record NewSnapshot(
        Optional<Slug> slug,
        Optional<String> displayName,
        Optional<Duration> autoDelete,
        Optional<Duration> ttl) {}
