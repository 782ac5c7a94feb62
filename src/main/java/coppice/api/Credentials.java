package coppice.api;

import coppice.base.Failure;
import coppice.base.Secret;

/// Knows whose a credential is.
public interface Credentials {

    /// @throws Failure [Code#INVALID_API_KEY] when it is malformed, unknown or revoked.
    Caller resolve(Secret apiKey);
}
