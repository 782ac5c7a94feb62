package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.Service;
import org.apache.sshd.common.ServiceFactory;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.apache.sshd.server.session.ServerConnectionServiceFactory;
import org.apache.sshd.server.session.ServerUserAuthServiceFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The authentication of a connection (RFC 4252), by the method `none` alone: the user name is the credential. The library's own service
/// refuses that method, and tells user names.
final class LoginService extends AbstractCloseable implements Service {
    private static final Logger LOG = LoggerFactory.getLogger(LoginService.class);
    private static final String NONE = "none";

    private final SshSession session;
    private final Admission admission;
    private final Connections connections;
    private final int maxAttempts;
    private final Map<String, Object> properties = new ConcurrentHashMap<>();
    private int attempts;

    private LoginService(
            SshSession session, Admission admission, Connections connections, int maxAttempts) {
        this.session = session;
        this.admission = admission;
        this.connections = connections;
        this.maxAttempts = maxAttempts;
    }

    static ServiceFactory factory(Admission admission, Connections connections, int maxAttempts) {
        return new ServiceFactory() {
            @Override
            public String getName() {
                return ServerUserAuthServiceFactory.INSTANCE.getName();
            }

            @Override
            public Service create(Session session) {
                return new LoginService((SshSession) session, admission, connections, maxAttempts);
            }
        };
    }

    @Override
    public Session getSession() {
        return session;
    }

    @Override
    public Map<String, Object> getProperties() {
        return properties;
    }

    @Override
    public void start() {
        // The client begins.
    }

    @Override
    public void process(int message, Buffer buffer) throws Exception {
        if (message != SshConstants.SSH_MSG_USERAUTH_REQUEST) {
            session.disconnect(
                    SshConstants.SSH2_DISCONNECT_PROTOCOL_ERROR, "log in by the method none");
            return;
        }
        if (session.isAuthenticated()) {
            return;
        }
        if (++attempts > maxAttempts) {
            session.disconnect(
                    SshConstants.SSH2_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE,
                    "too many attempts to log in");
            return;
        }
        var user = buffer.getString();
        var service = buffer.getString();
        var method = buffer.getString();
        boolean isOurs =
                method.equals(NONE)
                        && service.equals(ServerConnectionServiceFactory.INSTANCE.getName());
        var login = isOurs ? admitted(user) : Optional.<Login>empty();
        if (login.isPresent()) {
            session.admit(login.get());
            session.signalAuthenticationSuccess(login.get().vm().text(), service, buffer);
        } else {
            refuse();
        }
    }

    private Optional<Login> admitted(String user) throws IOException {
        try {
            var login = LoginName.parse(user).flatMap(admission::admit);
            login.ifPresent(connections::requireRoom);
            return login;
        } catch (Failure e) {
            if (e.code() == Code.UNAVAILABLE || e.code() == Code.INTERNAL_ERROR) {
                LOG.warn("nobody can tell whether a login is allowed: {}", e.getMessage());
            }
            tell(e.getMessage());
        } catch (RuntimeException e) {
            LOG.error(
                    "a login met a fault of ours",
                    e); // the library would say it where nobody looks
        }
        return Optional.empty();
    }

    private void tell(String sentence) throws IOException {
        var banner = session.createBuffer(SshConstants.SSH_MSG_USERAUTH_BANNER);
        banner.putString("coppice: %s\r\n".formatted(sentence));
        banner.putString("");
        session.writePacket(banner);
    }

    /// There are no other methods to go on with.
    private void refuse() throws IOException {
        var refusal = session.createBuffer(SshConstants.SSH_MSG_USERAUTH_FAILURE);
        refusal.putString("");
        refusal.putBoolean(false);
        session.writePacket(refusal);
    }
}
