package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.util.Optional;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.SessionContext;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.auth.AbstractUserAuth;
import org.apache.sshd.server.auth.UserAuth;
import org.apache.sshd.server.auth.UserAuthFactory;
import org.apache.sshd.server.session.ServerSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The method `none`: the user name is the credential.
final class TokenAuth extends AbstractUserAuth {
    private static final Logger LOG = LoggerFactory.getLogger(TokenAuth.class);
    private static final String NAME = "none";

    private final Admission admission;
    private final Connections connections;

    private TokenAuth(Admission admission, Connections connections) {
        super(NAME);
        this.admission = admission;
        this.connections = connections;
    }

    static UserAuthFactory factory(Admission admission, Connections connections) {
        return new UserAuthFactory() {
            @Override
            public String getName() {
                return NAME;
            }

            @Override
            public UserAuth createUserAuth(ServerSession session) {
                return new TokenAuth(admission, connections);
            }
        };
    }

    @Override
    protected Boolean doAuth(Buffer buffer, boolean isFirst) throws IOException {
        var session = (SshSession) getServerSession();
        try {
            var login = LoginName.parse(getUsername()).flatMap(admission::admit);
            login.ifPresent(connections::requireRoom);
            login.ifPresent(session::admit);
            return login.isPresent();
        } catch (Failure e) {
            if (e.code() == Code.UNAVAILABLE || e.code() == Code.INTERNAL_ERROR) {
                LOG.warn("nobody can tell whether a login is allowed: {}", e.getMessage());
            }
            tell(session, e.getMessage());
            return false;
        }
    }

    private static void tell(SshSession session, String sentence) throws IOException {
        var banner = session.createBuffer(SshConstants.SSH_MSG_USERAUTH_BANNER);
        banner.putString("coppice: %s\r\n".formatted(sentence));
        banner.putString("");
        session.writePacket(banner);
    }

    static Optional<Login> of(SessionContext session) {
        return SshSession.admitted(session);
    }
}
