package coppice.vm;

import coppice.identity.AccountId;
import java.time.Instant;
import java.util.Optional;

/// What is still told of a VM for a day after it was deleted, to the legacy family only.
///
/// @param recipe the body of a create that makes it anew under its id
public record DeletedVm(
        VmId id,
        AccountId account,
        SnapshotId snapshot,
        Persistence persistence,
        boolean isDeclared,
        Optional<String> recipe,
        Instant createdAt,
        Instant deletedAt) {}
