package coppice.ssh;

import coppice.base.Failure;
import coppice.identity.Caller;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrant;
import coppice.identity.VmGrants;
import java.util.Optional;

/// Who may log in to which VM. From any thread; asks the store each time, so what is revoked is refused at once.
public final class Admission {
    private static final String USER = "the Linux user in the login name (vm+user:token)";

    private final IdentityTokens tokens;
    private final VmGrants grants;

    public Admission(IdentityTokens tokens, VmGrants grants) {
        this.tokens = tokens;
        this.grants = grants;
    }

    /// Empty for an unknown token, for a VM without a grant and for one that is not there: these are told apart for nobody. A grant goes
    /// with its VM, so nobody needs to look for that.
    ///
    /// Who has a grant is told what is wrong with the Linux user: `BAD_REQUEST`, `LINUX_USER_NOT_ALLOWED`.
    Optional<Login> admit(LoginName name) {
        return tokens.authenticate(name.token().reveal())
                .flatMap(caller -> grant(caller, name).map(grant -> login(caller, grant, name)));
    }

    private Optional<VmGrant> grant(Caller caller, LoginName name) {
        return caller.identity().flatMap(identity -> grants.find(identity, name.vm().text()));
    }

    private static Login login(Caller caller, VmGrant grant, LoginName name) {
        grant.users().check(USER, name.user());
        return new Login(caller.account(), grant.identity(), name.vm(), name.user(), name.token());
    }

    /// Whether it would be admitted now. Fails if nobody can tell.
    boolean holds(Login login) {
        try {
            return admit(new LoginName(login.vm(), login.user(), login.token())).isPresent();
        } catch (Failure e) {
            return switch (e.code()) {
                case BAD_REQUEST, LINUX_USER_NOT_ALLOWED -> false;
                default -> throw e;
            };
        }
    }

    /// As [#holds], of what runs as that user of the guest.
    boolean holds(Login login, String linuxUser) {
        return holds(login)
                && grants.find(login.identity(), login.vm().text())
                        .map(VmGrant::users)
                        .filter(users -> users.includes(linuxUser))
                        .isPresent();
    }
}
