package coppice.ssh;

import java.util.Optional;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.session.SessionContext;
import org.apache.sshd.server.ServerFactoryManager;
import org.apache.sshd.server.session.ServerSessionImpl;
import org.apache.sshd.server.session.SessionFactory;

/// A connection. Its user name is a secret, so it is known by its VM alone, wherever the library shows it.
final class SshSession extends ServerSessionImpl {
    private static final AttributeKey<Login> LOGIN = new AttributeKey<>();

    SshSession(ServerFactoryManager server, IoSession connection) throws Exception {
        super(server, connection);
    }

    static SessionFactory factory(ServerFactoryManager server, Connections connections) {
        return new SessionFactory(server) {
            @Override
            protected ServerSessionImpl doCreateSession(IoSession connection) throws Exception {
                // What is thrown here closes it; what a listener of its acceptor throws would leave
                // it open.
                connections.requireRoom(connection.getRemoteAddress());
                return new SshSession(server, connection);
            }
        };
    }

    void admit(Login login) {
        setAttribute(LOGIN, login);
    }

    /// Who was admitted; empty before that.
    static Optional<Login> admitted(SessionContext session) {
        return Optional.ofNullable(session.getAttribute(LOGIN));
    }

    static Login login(SessionContext session) {
        return admitted(session).orElseThrow();
    }

    @Override
    public void setUsername(String name) {
        super.setUsername(login(this).vm().text());
    }
}
