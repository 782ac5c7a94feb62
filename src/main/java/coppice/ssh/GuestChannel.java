package coppice.ssh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.PtyMode;
import org.apache.sshd.common.channel.RequestHandler.Result;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.session.ServerSession;

/// One channel of a connection: what may be asked of it, and how it ends. The library calls it, one request after the other.
final class GuestChannel extends ChannelSession {
    private static final Pattern HARMLESS =
            Pattern.compile("LANG|LANGUAGE|LC_[A-Z]{1,32}|TZ|COLORTERM|NO_COLOR|TERM_PROGRAM");
    private static final Pattern TERM = Pattern.compile("[A-Za-z0-9._+-]{1,64}");
    private static final int MAX_VALUE = 1024;
    private static final int MAX_VARIABLES = 64;
    private static final int INTERRUPT = 2;

    private final Acts acts;
    private final Map<String, String> environment = new HashMap<>();
    private Optional<TerminalSize> terminal = Optional.empty();
    private Optional<GuestCommand> command = Optional.empty();

    /// What a channel becomes.
    interface Acts {
        Act of(Login login, Wanted wanted, Streams streams);
    }

    GuestChannel(Acts acts) {
        this.acts = acts;
    }

    @Override
    protected Result handleEnvParsed(String name, String value) {
        boolean isTaken =
                HARMLESS.matcher(name).matches()
                        && value.length() <= MAX_VALUE
                        && value.indexOf('\0') < 0
                        && environment.size() < MAX_VARIABLES;
        if (isTaken) {
            environment.put(name, value);
        }
        return isTaken ? Result.ReplySuccess : Result.ReplyFailure;
    }

    @Override
    protected Result handlePtyReqParsed(
            String term,
            int columns,
            int rows,
            int width,
            int height,
            Map<PtyMode, Integer> modes) {
        terminal = Optional.of(TerminalSize.of(columns, rows));
        if (TERM.matcher(term).matches()) {
            environment.put("TERM", term);
        }
        return Result.ReplySuccess;
    }

    @Override
    protected Result handleWindowChangeParsed(int columns, int rows, int width, int height) {
        command.ifPresent(its -> its.resize(TerminalSize.of(columns, rows)));
        return Result.ReplySuccess;
    }

    @Override
    protected Result handleSignalParsed(String name) {
        var number = Signals.number(name);
        number.ifPresent(its -> command.ifPresent(running -> running.signal(its)));
        return number.isPresent() ? Result.ReplySuccess : Result.ReplyFailure;
    }

    @Override
    protected Result handleBreakParsed(long length) {
        command.ifPresent(its -> its.signal(INTERRUPT));
        return Result.ReplySuccess;
    }

    @Override
    protected Result handleShellParsed(String request) throws IOException {
        return begin(request, Scripts.loginShell(), terminal, false);
    }

    @Override
    protected Result handleExecParsed(String request, String line) throws IOException {
        return line.indexOf('\0') >= 0
                ? Result.ReplyFailure
                : begin(request, Scripts.command(line), terminal, true);
    }

    /// It is a client's tool that wants the bytes as they are, whatever else it has asked for.
    @Override
    protected Result handleSubsystemParsed(String request, String name) throws IOException {
        return name.equals("sftp")
                ? begin(request, Scripts.sftp(), Optional.empty(), false)
                : Result.ReplyFailure;
    }

    private Result begin(
            String request, String script, Optional<TerminalSize> size, boolean isCommand)
            throws IOException {
        var login = SshSession.login(getServerSession());
        var wanted = new Wanted(script, environment(), size, isCommand);
        var begun =
                new GuestCommand("ssh-" + login.vm(), streams -> acts.of(login, wanted, streams));
        command = Optional.of(begun);
        commandInstance = begun;
        return prepareChannelCommand(request, begun);
    }

    private Map<String, String> environment() {
        var all = new HashMap<>(environment);
        ServerSession session = getServerSession();
        if (session.getClientAddress() instanceof InetSocketAddress from
                && session.getLocalAddress() instanceof InetSocketAddress to) {
            var client = "%s %d".formatted(from.getAddress().getHostAddress(), from.getPort());
            all.put("SSH_CLIENT", "%s %d".formatted(client, to.getPort()));
            all.put(
                    "SSH_CONNECTION",
                    "%s %s %d".formatted(client, to.getAddress().getHostAddress(), to.getPort()));
        }
        return all;
    }

    @Override
    protected Result handleAgentForwardingParsed(String request) {
        return Result.ReplyFailure;
    }

    @Override
    protected Result handleX11ForwardingParsed(
            String request,
            ServerSession session,
            boolean single,
            String protocol,
            String cookie,
            int screen) {
        return Result.ReplyFailure;
    }

    /// Tells the client how it ended, after all its output.
    void end(Ending ending) {
        try {
            if (!isClosing()) {
                sendEof();
                switch (ending) {
                    case Ending.Exited(int status) -> sendExitStatus(status);
                    case Ending.Signalled(int number) -> sendExitSignal(Signals.name(number));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            commandExitFuture.setClosed();
            close(false);
        }
    }

    private void sendExitSignal(String name) throws IOException {
        exitStatusSent.set(true);
        var buffer = getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_REQUEST);
        buffer.putUInt(getRecipient());
        buffer.putString("exit-signal");
        buffer.putBoolean(false);
        buffer.putString(name);
        buffer.putBoolean(false); // no core dump that anybody knows of
        buffer.putString("");
        buffer.putString("");
        writePacket(buffer);
    }
}
