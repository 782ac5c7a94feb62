package coppice.identity;

import java.util.Optional;

/// Who makes a request, once the credential is checked.
///
/// @param identity absent: with full rights on the account; else with those that this identity was granted
public record Caller(AccountId account, Optional<IdentityId> identity) {

    static Caller of(AccountId account) {
        return new Caller(account, Optional.empty());
    }
}
