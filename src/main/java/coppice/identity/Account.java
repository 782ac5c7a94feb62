package coppice.identity;

import coppice.base.Slug;
import java.time.Instant;

/// The owner of VMs, snapshots and keys. Its slug is the owner word of its public snapshots.
public record Account(AccountId id, Slug slug, String name, Instant createdAt) {}
