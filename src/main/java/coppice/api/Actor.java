package coppice.api;

import coppice.identity.SignedIn;
import coppice.identity.UserId;
import java.util.Optional;
import java.util.UUID;

/// Who has made a call, for the record of what was done.
///
/// @param account as which; absent: as none, such as one who signs in
/// @param user who is signed in, or has just said who it is
/// @param credential the id of what it was made with
public record Actor(
        Optional<UUID> account,
        Optional<UUID> identity,
        Optional<UUID> user,
        Optional<String> credential) {

    static Actor of(Caller caller) {
        return new Actor(
                Optional.of(caller.account()),
                caller.identity(),
                caller.signedIn().map(who -> who.user().uuid()),
                caller.credential());
    }

    public static Actor of(UserId user) {
        return new Actor(
                Optional.empty(), Optional.empty(), Optional.of(user.uuid()), Optional.empty());
    }

    /// One who is signed in and acts as this account.
    public static Actor of(SignedIn who, UUID account) {
        return of(Caller.signedIn(account, who));
    }
}
