package coppice.vm;

import coppice.identity.AccountId;
import java.util.Optional;

/// For whom something is done to files: in which VM of which account, and as which user there; absent: root.
///
/// @param vm id or slug
public record FileActor(AccountId account, String vm, Optional<String> user) {
    public static FileActor root(AccountId account, String vm) {
        return new FileActor(account, vm, Optional.empty());
    }
}
