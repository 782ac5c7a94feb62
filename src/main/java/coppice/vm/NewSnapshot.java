package coppice.vm;

import coppice.base.Slug;
import java.time.Duration;
import java.util.Optional;

/// What a snapshot that is taken of a VM is to be.
public record NewSnapshot(Snapshot.Settings settings, Persistence.Lasting persistence) {

    /// One that is only deleted by its owner or its timers.
    public NewSnapshot(
            Optional<Slug> slug,
            Optional<String> displayName,
            Optional<Duration> autoDelete,
            Optional<Duration> ttl) {
        this(
                new Snapshot.Settings(slug, displayName, autoDelete, ttl),
                new Persistence.Persistent());
    }
}
