package coppice.api;

import coppice.identity.AccountId;
import coppice.identity.IdentityId;
import coppice.identity.SignedIn;
import java.util.Optional;
import java.util.UUID;

/// Who is calling.
///
/// @param identity absent: the account itself, with full rights over what is its own; else one of its identities, with what was granted
///     to it
/// @param credential the id of the API key or access token, or of the session of a sign-in, where there is one
/// @param signedIn who acts as the account after signing in; absent: nobody in particular
public record Caller(
        UUID account,
        Optional<UUID> identity,
        Optional<String> credential,
        Optional<SignedIn> signedIn) {

    public Caller(UUID account, Optional<UUID> identity, Optional<String> credential) {
        this(account, identity, credential, Optional.empty());
    }

    /// One who is signed in and acts as this account.
    public static Caller signedIn(UUID account, SignedIn who) {
        return new Caller(account, Optional.empty(), Optional.of(who.session()), Optional.of(who));
    }

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
