package coppice.ssh;

import coppice.base.Secret;
import coppice.identity.AccountId;
import coppice.identity.IdentityId;
import coppice.vm.VmId;
import java.util.Optional;

/// Somebody who was admitted to a VM.
///
/// @param user absent: the VM's default Linux user
/// @param token what it was admitted with
public record Login(
        AccountId account, IdentityId identity, VmId vm, Optional<String> user, Secret token) {

    /// The id of the token, which is no secret.
    public String tokenId() {
        return token.reveal().split("_")[1];
    }
}
