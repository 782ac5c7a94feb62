package coppice.main;

import coppice.api.Caller;
import coppice.api.Credentials;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.identity.ApiKeys;
import coppice.identity.IdentityId;
import coppice.identity.IdentityTokens;
import coppice.store.Store;
import java.time.Clock;

/// The credentials that this installation has given out.
record StoredCredentials(ApiKeys keys, IdentityTokens tokens) implements Credentials {

    static StoredCredentials of(Store store) {
        return new StoredCredentials(
                new ApiKeys(store, Clock.systemUTC()),
                new IdentityTokens(store, Clock.systemUTC()));
    }

    @Override
    public Caller resolve(Secret apiKey) {
        return keys.authenticate(apiKey.reveal())
                .map(StoredCredentials::caller)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.INVALID_API_KEY,
                                        "the API key is unknown or revoked; make one with './coppice key create'"));
    }

    @Override
    public Caller identity(Secret accessToken) {
        return tokens.authenticate(accessToken.reveal())
                .map(StoredCredentials::caller)
                .orElseThrow(Credentials::unknownToken);
    }

    private static Caller caller(coppice.identity.Caller known) {
        return new Caller(known.account().uuid(), known.identity().map(IdentityId::uuid));
    }
}
