package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;

/// Knows whose a credential is.
public interface Credentials {

    /// @throws Failure [Code#INVALID_API_KEY] when it is malformed, unknown or revoked.
    Caller resolve(Secret apiKey);

    /// Knows no identity unless it is told to.
    ///
    /// @throws Failure [Code#INVALID_IDENTITY_TOKEN] when it is malformed, unknown or revoked.
    default Caller identity(Secret accessToken) {
        throw unknownToken();
    }

    static Failure unknownToken() {
        return new Failure(
                Code.INVALID_IDENTITY_TOKEN,
                "the identity access token is unknown or revoked; ask for a new one");
    }
}
