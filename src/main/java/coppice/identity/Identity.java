package coppice.identity;

import java.time.Instant;

/// An end user of an account, who has the rights that are granted and no others.
///
/// @param isManaged whether it belongs to the platform's own machinery, and cannot be deleted
public record Identity(IdentityId id, AccountId account, boolean isManaged, Instant createdAt) {}
