package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.io.nio2.Nio2Session;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connections that there are, how many there may be, and who of them may stay.
final class Connections implements SessionListener {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

    // A client that vanishes without a word is gone after two minutes. One that is stopped answers:
    // its kernel does.
    private static final int KEEPALIVE_AFTER = 60;
    private static final int KEEPALIVE_EVERY = 20;
    private static final int KEEPALIVE_TRIES = 3;

    private final SshLimits limits;
    private final Consumer<Login> whenAdmitted;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private final AtomicLong refused = new AtomicLong();

    /// @param whenAdmitted told of each login; must not wait
    Connections(SshLimits limits, Consumer<Login> whenAdmitted) {
        this.limits = limits;
        this.whenAdmitted = whenAdmitted;
    }

    int count() {
        return sessions.size();
    }

    /// Refuses a connection before anything is done for it. The library asks for one after the other.
    void requireRoom(SocketAddress remote) throws IOException {
        long strangers = sessions.stream().filter(Connections::isStranger).count();
        long ofAddress =
                sessions.stream()
                        .filter(Connections::isStranger)
                        .filter(each -> address(each).equals(address(remote)))
                        .count();
        if (sessions.size() >= limits.connections()
                || strangers >= limits.strangers()
                || ofAddress >= limits.strangersOfAddress()) {
            if (refused.getAndIncrement() % 1000 == 0) {
                LOG.warn(
                        "SSH connections are refused: there are {}, {} of them not logged in, {} of those from {}",
                        sessions.size(),
                        strangers,
                        ofAddress,
                        remote);
            }
            throw new IOException("too many connections");
        }
    }

    private static boolean isStranger(Session session) {
        return SshSession.admitted(session).isEmpty();
    }

    private static Optional<InetAddress> address(Session session) {
        return address(session.getRemoteAddress());
    }

    private static Optional<InetAddress> address(SocketAddress address) {
        return address instanceof InetSocketAddress internet
                ? Optional.of(internet.getAddress())
                : Optional.empty();
    }

    /// `RATE_LIMITED` if its VM has all the connections that it may have.
    void requireRoom(Login login) {
        long there =
                sessions.stream()
                        .flatMap(session -> SshSession.admitted(session).stream())
                        .filter(other -> other.vm().equals(login.vm()))
                        .count();
        if (there >= limits.ofVm()) {
            throw new Failure(
                    Code.RATE_LIMITED,
                    "%s has %d SSH connections, its limit; end some first"
                            .formatted(login.vm(), there));
        }
    }

    @Override
    public void sessionCreated(Session session) {
        sessions.add(session);
        if (session.getIoSession() instanceof Nio2Session connection) {
            try {
                connection
                        .getSocket()
                        .setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                        .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_AFTER)
                        .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEPALIVE_EVERY)
                        .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_TRIES);
            } catch (IOException e) {
                LOG.debug("a connection has ended at once", e);
            }
        }
    }

    @Override
    public void sessionEvent(Session session, Event event) {
        if (event == Event.Authenticated) {
            SshSession.admitted(session).ifPresent(whenAdmitted);
        }
    }

    @Override
    public void sessionClosed(Session session) {
        sessions.remove(session);
    }

    /// Ends those whose right is gone. One of whom nobody can tell stays.
    void reconsider(Admission admission) {
        for (var session : sessions) {
            try {
                if (!SshSession.admitted(session).map(admission::holds).orElse(true)) {
                    end(session, "the right to use this VM was revoked");
                }
            } catch (Failure e) {
                LOG.warn("whether an SSH session may go on is not known: {}", e.getMessage());
            }
        }
    }

    void endAll(String why) {
        sessions.forEach(session -> end(session, why));
    }

    private static void end(Session session, String why) {
        try {
            session.disconnect(SshConstants.SSH2_DISCONNECT_BY_APPLICATION, why);
        } catch (IOException e) {
            LOG.debug("a connection has ended by itself", e);
        }
    }
}
