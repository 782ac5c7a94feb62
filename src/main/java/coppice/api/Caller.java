package coppice.api;

import java.util.Optional;
import java.util.UUID;

/// Who is calling.
///
/// @param identity absent: the account itself, with full rights over what is its own; else one of its identities, with what was granted
///     to it
public record Caller(UUID account, Optional<UUID> identity) {

    public Caller(UUID account) {
        this(account, Optional.empty());
    }
}
