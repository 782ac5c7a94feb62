package coppice.ssh;

import java.util.List;
import org.apache.sshd.common.Service;
import org.apache.sshd.common.ServiceFactory;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.session.AbstractServerSession;
import org.apache.sshd.server.session.ServerConnectionService;
import org.apache.sshd.server.session.ServerConnectionServiceFactory;

/// Which channels a connection may have. A channel that it may not have is refused with a reason, and the connection goes on.
final class SshConnection extends ServerConnectionService {
    private static final String SESSION = "session";
    private static final List<String> FORWARDED =
            List.of("direct-tcpip", "direct-streamlocal@openssh.com");

    private final int maxChannels;

    private SshConnection(AbstractServerSession session, int maxChannels) throws SshException {
        super(session);
        this.maxChannels = maxChannels;
    }

    static ServiceFactory factory(int maxChannels) {
        return new ServiceFactory() {
            @Override
            public String getName() {
                return ServerConnectionServiceFactory.INSTANCE.getName();
            }

            @Override
            public Service create(Session session) throws SshException {
                return new SshConnection((AbstractServerSession) session, maxChannels);
            }
        };
    }

    @Override
    protected void channelOpen(Buffer buffer) throws Exception {
        int start = buffer.rpos();
        var type = buffer.getString();
        long sender = buffer.getUInt();
        if (FORWARDED.contains(type)) {
            refuse(
                    buffer,
                    sender,
                    "ports are not forwarded by SSH here; use a tunnel, or run a client of the port in the VM");
        } else if (type.equals(SESSION) && getChannels().size() >= maxChannels) {
            refuse(
                    buffer,
                    sender,
                    "a connection has at most %d channels; end some, or connect again"
                            .formatted(maxChannels));
        } else {
            buffer.rpos(start);
            super.channelOpen(buffer);
        }
    }

    private void refuse(Buffer buffer, long sender, String why) throws Exception {
        sendChannelOpenFailure(
                buffer, sender, SshConstants.SSH_OPEN_ADMINISTRATIVELY_PROHIBITED, why, "");
    }
}
