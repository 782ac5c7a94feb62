package coppice.vm;

import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.Optional;

/// The memory and disk of a VM at one instant, from which others are made.
///
/// @param capture the machine it was captured on, and what it takes to restore it
public record Snapshot(
        SnapshotId id,
        AccountId account,
        Optional<Slug> slug,
        Optional<String> displayName,
        boolean isPublic,
        Capture capture,
        Instant createdAt) {}
