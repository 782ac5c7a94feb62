package coppice.identity;

import java.time.Instant;
import java.util.Optional;

/// What may be shown of an API key at any time.
public record ApiKey(
        ApiKeyId id,
        AccountId account,
        String name,
        Instant createdAt,
        Optional<Instant> revokedAt) {}
