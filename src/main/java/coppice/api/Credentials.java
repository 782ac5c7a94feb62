package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.identity.SignedIn;

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

    /// Knows nobody who has signed in unless it is told to.
    ///
    /// @throws Failure [Code#INVALID_CLI_CREDENTIAL] when it is malformed, unknown or expired.
    default SignedIn signedIn(Secret accessToken) {
        throw notSignedIn();
    }

    /// The caller that somebody is in a team.
    ///
    /// @throws Failure [Code#CLI_TEAM_ACCESS_DENIED] when it is not in that team, or there is none.
    default Caller member(SignedIn who, String team) {
        throw notInTeam();
    }

    /// Whether one who was admitted as [#member] would be again, with a newer access token of the same session.
    default boolean isStillMember(Caller caller) {
        return false;
    }

    static Failure notSignedIn() {
        return new Failure(
                Code.INVALID_CLI_CREDENTIAL,
                "the sign-in token is invalid or expired; sign in again, or use an API key without the team header");
    }

    static Failure notInTeam() {
        return new Failure(
                Code.CLI_TEAM_ACCESS_DENIED,
                "you are in no team with this id; ask for your teams again and choose one of them");
    }

    static Failure unknownToken() {
        return new Failure(
                Code.INVALID_IDENTITY_TOKEN,
                "the identity access token is unknown or revoked; ask for a new one");
    }
}
