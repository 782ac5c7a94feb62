package coppice.identity;

import java.time.Instant;
import java.util.Optional;

/// What may be shown of an API key at any time.
///
/// @param maker who made it after signing in; absent: it was made by command line
public record ApiKey(
        ApiKeyId id,
        AccountId account,
        String name,
        Optional<UserId> maker,
        Instant createdAt,
        Optional<Instant> revokedAt) {}
