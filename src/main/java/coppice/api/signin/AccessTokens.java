package coppice.api.signin;

import coppice.api.Credentials;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.Sessions;
import coppice.identity.SignedIn;
import java.util.Map;
import java.util.Optional;

/// Finds out who is signed in, where no team is named yet.
record AccessTokens(Sessions sessions) {

    /// `INVALID_CLI_CREDENTIAL` when it is malformed, unknown or expired; `KEY_RESOLVER_UNAVAILABLE` when nobody can tell.
    SignedIn require(String accessToken) {
        return known(accessToken).orElseThrow(Credentials::notSignedIn);
    }

    private Optional<SignedIn> known(String accessToken) {
        try {
            return sessions.authenticate(accessToken);
        } catch (Failure e) {
            throw e.code() == Code.UNAVAILABLE ? e.as(Code.KEY_RESOLVER_UNAVAILABLE, Map.of()) : e;
        }
    }

    static Failure missing(String header) {
        return new Failure(Code.MISSING_CREDENTIALS, "no credential; send the header " + header);
    }
}
