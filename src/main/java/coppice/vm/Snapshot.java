package coppice.vm;

import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// The memory and disk of a VM at one instant, from which others are made. What it takes to restore it is its [Capture].
///
/// @param sourceVm the VM it was taken of, which may be gone; base images have none
/// @param resources what a VM made from it gets; absent when its capture is of an old form and damaged
/// @param lastUsedAt when a VM was last made from it
public record Snapshot(
        SnapshotId id,
        AccountId account,
        Settings settings,
        boolean isPublic,
        Optional<VmId> sourceVm,
        Optional<Resources> resources,
        Persistence.Lasting persistence,
        Standing standing,
        Optional<Instant> lastUsedAt,
        Instant createdAt,
        Instant updatedAt) {

    /// What its owner says about it and may change.
    ///
    /// @param autoDelete without a VM made from it for this long: then it is deleted
    /// @param ttl since it was taken: then it is deleted
    public record Settings(
            Optional<Slug> slug,
            Optional<String> displayName,
            Optional<Duration> autoDelete,
            Optional<Duration> ttl) {
        public static final Settings NONE =
                new Settings(
                        Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        Settings withSlug(Optional<Slug> changed) {
            return new Settings(changed, displayName, autoDelete, ttl);
        }
    }

    /// Whether it is there. Only the legacy family shows one that is not, for a day.
    public sealed interface Standing {}

    public record Usable() implements Standing {}

    public record Deleted(Instant at) implements Standing {}

    /// It was never whole.
    public record Failed(Instant at, String why) implements Standing {}

    /// Whether one of its timers has run out.
    public boolean isDue(Instant now) {
        return settings.ttl().map(createdAt::plus).filter(end -> !end.isAfter(now)).isPresent()
                || settings.autoDelete()
                        .map(lastUsedAt.orElse(createdAt)::plus)
                        .filter(end -> !end.isAfter(now))
                        .isPresent();
    }

    Snapshot with(Settings changed, Instant now) {
        return new Snapshot(
                id,
                account,
                changed,
                isPublic,
                sourceVm,
                resources,
                persistence,
                standing,
                lastUsedAt,
                createdAt,
                now);
    }

    Snapshot with(Optional<Resources> found) {
        return new Snapshot(
                id,
                account,
                settings,
                isPublic,
                sourceVm,
                found,
                persistence,
                standing,
                lastUsedAt,
                createdAt,
                updatedAt);
    }
}
