package coppice.api.v5;

import coppice.identity.Identity;
import coppice.identity.VmGrant;
import coppice.json.JsonWriter;
import java.util.UUID;

/// Identities, their tokens and what they are granted, as they are answered.
final class IdentityJson {
    private IdentityJson() {}

    /// As lists show it.
    static JsonWriter item(Identity identity) {
        return new JsonWriter()
                .put("id", identity.id().uuid())
                .put("managed", identity.isManaged());
    }

    static JsonWriter write(Identity identity) {
        return new JsonWriter()
                .put("id", identity.id().uuid())
                .put("accountId", identity.account().uuid())
                .put("managed", identity.isManaged());
    }

    static JsonWriter token(UUID id) {
        return new JsonWriter().put("id", id);
    }

    /// Only the account itself can grant.
    static JsonWriter write(VmGrant grant, UUID account) {
        return new JsonWriter()
                .put("id", grant.id())
                .put("identityId", grant.identity().uuid())
                .put("vmId", grant.vm())
                .putOrNull("allowedLinuxUsers", grant.users().names())
                .put("grantedAt", grant.grantedAt())
                .put("grantedBy", account);
    }
}
