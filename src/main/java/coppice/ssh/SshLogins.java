package coppice.ssh;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Ticks;
import coppice.base.Undo;
import coppice.vm.Hangups;
import coppice.vm.Programs;
import coppice.vm.Terminals;
import coppice.vm.Vms;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.channel.ChannelFactory;
import org.apache.sshd.common.compression.BuiltinCompressions;
import org.apache.sshd.common.global.KeepAliveHandler;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.global.NoMoreSessionsHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The door of this package: where clients log in by SSH. Closing it tells them so, ends their connections and hangs up what they ran.
public final class SshLogins implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SshLogins.class);

    /// How often it is looked who may stay.
    private static final Duration EVERY = Duration.ofSeconds(10);

    private static final Duration WAKING = Duration.ofSeconds(120);
    private static final Duration FAREWELL = Duration.ofSeconds(3);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final long WINDOW = 512 * 1024;

    private final Vms vms;
    private final Admission admission;
    private final Inside inside;
    private final Connections connections;
    private final SshServer server;
    private final Ticks ticks;

    /// @param whenAdmitted told of each login; must not wait
    private SshLogins(
            SshSettings settings, Vms vms, Admission admission, Consumer<Login> whenAdmitted) {
        this.vms = vms;
        this.admission = admission;
        var hangups = Hangups.start(vms);
        this.inside = new Inside(new Programs(vms, hangups), new Terminals(vms), hangups);
        this.connections =
                new Connections(
                        settings.limits(),
                        login -> {
                            whenAdmitted.accept(login);
                            wake(login);
                        });
        this.server = server(settings);
        this.ticks = Ticks.start("ssh-rights", EVERY, this::reconsider);
    }

    /// `UNAVAILABLE` if the address cannot be had or there is no host key.
    public static SshLogins start(
            SshSettings settings, Vms vms, Admission admission, Consumer<Login> whenAdmitted) {
        try (var undo = new Undo()) {
            var logins = undo.add(new SshLogins(settings, vms, admission, whenAdmitted));
            logins.server.start();
            undo.keep();
            LOG.info("SSH logins on port {}", logins.server.getPort());
            return logins;
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "SSH cannot listen on %s; is another program there? See ssh.port and ssh.address"
                            .formatted(settings.address()),
                    e);
        }
    }

    private SshServer server(SshSettings settings) {
        var made = SshServer.setUpDefaultServer();
        made.setHost(settings.address().getHostString());
        made.setPort(settings.address().getPort());
        made.setKeyPairProvider(KeyPairProvider.wrap(HostKey.of(settings.hostKey())));
        made.setSessionFactory(SshSession.factory(made, connections));
        made.setServiceFactories(
                List.of(
                        LoginService.factory(admission, connections, settings.limits().attempts()),
                        SshConnection.factory(settings.limits().channels())));
        made.setChannelFactories(List.of(channels()));
        made.setGlobalRequestHandlers(
                List.of(KeepAliveHandler.INSTANCE, NoMoreSessionsHandler.INSTANCE));
        // What is compressed could be small here and without end there.
        made.setCompressionFactories(List.of(BuiltinCompressions.none));
        made.addSessionListener(connections);
        CoreModuleProperties.AUTH_TIMEOUT.set(made, settings.limits().grace());
        // Nobody is idle: the connection to a silent client is looked at by the kernel.
        CoreModuleProperties.IDLE_TIMEOUT.set(made, Duration.ZERO);
        CoreModuleProperties.WINDOW_SIZE.set(made, WINDOW);
        CoreModuleProperties.SERVER_IDENTIFICATION.set(made, "Coppice");
        return made;
    }

    private ChannelFactory channels() {
        return new ChannelFactory() {
            @Override
            public String getName() {
                return "session";
            }

            @Override
            public Channel createChannel(Session session) {
                return new GuestChannel(SshLogins.this::act);
            }
        };
    }

    private Act act(Login login, Wanted wanted, Streams streams) {
        return wanted.terminal().isPresent()
                ? new TerminalAct(login, inside, wanted, streams, admission)
                : new ProgramAct(login, inside, wanted, streams);
    }

    /// A client may connect for nothing else, and one that runs something soon finds its VM awake. If it fails, what it runs is told why.
    private void wake(Login login) {
        Thread.ofVirtual()
                .name("ssh-wake-" + login.vm())
                .start(
                        () -> {
                            try {
                                var _ =
                                        vms.awake(
                                                login.account(),
                                                login.vm().text(),
                                                Deadline.in(WAKING),
                                                _ -> true);
                            } catch (Failure e) {
                                LOG.debug("a login did not wake its VM", e);
                            }
                        });
    }

    private void reconsider() {
        connections.reconsider(admission);
        inside.terminals().reconsider();
    }

    @Override
    public void close() {
        ticks.close();
        connections.endAll("the server stops; connect again when it is back");
        var deadline = Deadline.in(FAREWELL);
        try {
            while (connections.count() > 0 && !deadline.isPast()) {
                Thread.sleep(POLL);
            }
            server.stop(true);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.warn("the SSH server did not close", e);
        }
        inside.hangups().close();
    }
}
