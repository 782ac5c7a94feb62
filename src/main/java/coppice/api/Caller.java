package coppice.api;

import coppice.identity.AccountId;
import coppice.identity.IdentityId;
import java.util.Optional;
import java.util.UUID;

/// Who is calling.
///
/// @param identity absent: the account itself, with full rights over what is its own; else one of its identities, with what was granted
///     to it
public record Caller(UUID account, Optional<UUID> identity) {

    coppice.identity.Caller known() {
        return new coppice.identity.Caller(new AccountId(account), identity.map(IdentityId::new));
    }

    public Caller(UUID account) {
        this(account, Optional.empty());
    }
}
