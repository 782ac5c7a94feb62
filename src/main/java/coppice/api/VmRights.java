package coppice.api;

import coppice.base.Failure;
import coppice.identity.IdentityId;
import coppice.identity.LinuxUsers;
import coppice.identity.VmGrant;
import coppice.identity.VmGrants;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// What a caller may do in a VM: the account itself everything, one of its identities what it was granted. Asked anew by each call, so a
/// right that is taken away is gone for the next one.
public final class VmRights {
    /// No identity has any.
    public static final VmRights NONE = new VmRights((_, _) -> Optional.empty());

    private final Granted granted;

    /// Knows what an identity was granted on the VM with an id.
    @FunctionalInterface
    public interface Granted {
        Optional<VmGrant> find(IdentityId identity, String vm);
    }

    private VmRights(Granted granted) {
        this.granted = granted;
    }

    public static VmRights of(VmGrants grants) {
        return by(grants::find);
    }

    public static VmRights by(Granted granted) {
        return new VmRights(granted);
    }

    /// As which users of the guest the caller may act.
    ///
    /// @param vm its id
    /// @param absent the failure for a VM that is not there: one in which the caller has no right is told of no better
    public LinuxUsers require(Caller caller, String vm, Supplier<Failure> absent) {
        Function<IdentityId, LinuxUsers> ofIdentity =
                identity -> granted.find(identity, vm).orElseThrow(absent).users();
        return caller.identity().map(IdentityId::new).map(ofIdentity).orElse(LinuxUsers.ANY);
    }

    /// Whether the caller may act as that user of the guest.
    public boolean allows(Caller caller, String vm, String linuxUser) {
        return caller.identity()
                .map(
                        identity ->
                                granted.find(new IdentityId(identity), vm)
                                        .map(grant -> grant.users().includes(linuxUser))
                                        .orElse(false))
                .orElse(true);
    }
}
