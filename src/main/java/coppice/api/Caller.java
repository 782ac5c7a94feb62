package coppice.api;

import coppice.identity.AccountId;
import coppice.identity.IdentityId;
import java.util.Optional;
import java.util.UUID;

/// Who is calling.
///
/// @param identity absent: the account itself, with full rights over what is its own; else one of its identities, with what was granted
///     to it
/// @param credential the id of the API key or access token, where there is one
public record Caller(UUID account, Optional<UUID> identity, Optional<String> credential) {

    coppice.identity.Caller known() {
        return new coppice.identity.Caller(new AccountId(account), identity.map(IdentityId::new));
    }

    public Caller(UUID account) {
        this(account, Optional.empty());
    }

    public Caller(UUID account, Optional<UUID> identity) {
        this(account, identity, Optional.empty());
    }
}
