package coppice.identity;

import java.time.Instant;
import java.util.UUID;

/// That an identity may use a VM.
///
/// @param vm the id of the VM, never a slug, so that a slug that moves takes no rights with it
/// @param grantedAt stays when the users change
public record VmGrant(
        UUID id, IdentityId identity, String vm, LinuxUsers users, Instant grantedAt) {}
