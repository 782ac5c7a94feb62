package coppice.main;

import coppice.api.Caller;
import coppice.api.Credentials;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.identity.ApiKeys;
import coppice.identity.IdentityId;
import coppice.identity.IdentityTokens;
import coppice.identity.Sessions;
import coppice.identity.SignedIn;
import coppice.identity.Teams;
import coppice.store.Store;
import java.time.Clock;
import java.util.Optional;

/// The credentials that this installation has given out.
record StoredCredentials(ApiKeys keys, IdentityTokens tokens, Sessions sessions, Teams teams)
        implements Credentials {

    static StoredCredentials of(Store store) {
        return new StoredCredentials(
                new ApiKeys(store, Clock.systemUTC()),
                new IdentityTokens(store, Clock.systemUTC()),
                new Sessions(store, Clock.systemUTC()),
                new Teams(store));
    }

    @Override
    public Caller resolve(Secret apiKey) {
        return keys.authenticate(apiKey.reveal())
                .map(known -> caller(known, part(apiKey, "-", 0)))
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.INVALID_API_KEY,
                                        "the API key is unknown or revoked; make one with './coppice key create'"));
    }

    @Override
    public Caller identity(Secret accessToken) {
        return tokens.authenticate(accessToken.reveal())
                .map(known -> caller(known, part(accessToken, "_", 1)))
                .orElseThrow(Credentials::unknownToken);
    }

    @Override
    public SignedIn signedIn(Secret accessToken) {
        return sessions.authenticate(accessToken.reveal()).orElseThrow(Credentials::notSignedIn);
    }

    @Override
    public Caller member(SignedIn who, String team) {
        return teams.find(who.user(), team)
                .map(found -> Caller.signedIn(found.account().id().uuid(), who))
                .orElseThrow(Credentials::notInTeam);
    }

    @Override
    public boolean isStillMember(Caller caller) {
        var who = caller.signedIn().orElseThrow();
        return sessions.isAlive(who)
                && teams.find(who.user(), caller.account().toString()).isPresent();
    }

    /// The id inside a credential, which is no secret.
    private static String part(Secret credential, String separator, int index) {
        return credential.reveal().split(separator)[index];
    }

    private static Caller caller(coppice.identity.Caller known, String credential) {
        return new Caller(
                known.account().uuid(),
                known.identity().map(IdentityId::uuid),
                Optional.of(credential));
    }
}
