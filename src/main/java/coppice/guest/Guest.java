package coppice.guest;

import static java.nio.charset.StandardCharsets.US_ASCII;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.base.Size;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.time.Instant;

/// One connection to the agent of one VM. Any thread may use it; many requests go on at once.
///
/// Nothing that the guest sends is believed. Its first breach of the protocol closes the connection, which fails every waiting call with
/// UNAVAILABLE at once. A call that is not answered by its deadline fails with UNAVAILABLE too, and the connection stays open. An operation
/// that the agent does not know fails with AGENT_UNSUPPORTED.
///
/// An agent that was restarted inside its guest puts the connection of the one before it out of step, so that it closes.
public final class Guest implements AutoCloseable {
    static final byte[] MAGIC = "COPPICE-AGENT-1\n".getBytes(US_ASCII);
    private static final int NONCE = 16;
    private static final Duration STALE = Duration.ofMillis(100);

    private final Agent agent;

    private Guest(Agent agent) {
        this.agent = agent;
    }

    /// Greets the agent of the VM of this name. The channel is in blocking mode, and closing it ends its reads and writes; from here on it
    /// belongs to the connection, and is closed whenever there is no guest to return.
    ///
    /// HELLO may lie unread for seconds, while the guest boots or prepares a copy. If so, its clock is set again before this returns.
    public static Greeting connect(
            String name, ByteChannel channel, Hello hello, Deadline deadline) {
        var nonce = RandomText.bytes(NONCE);
        var mark = ByteBuffer.allocate(MAGIC.length + NONCE).put(MAGIC).put(nonce).array();
        long greeted = System.nanoTime();
        var connection = new Connection(name, channel, opening(mark, hello), mark);
        try {
            var answer = Agent.result(connection.greeting(deadline));
            if (answer.has(Tag.CODE)) {
                var refusal = Answer.Refused.of(answer);
                connection.close(closedByUs(name));
                return new Greeting.Refused(refusal.code(), refusal.message());
            }
            var welcome = Welcome.parse(answer, hello.generation());
            var guest = new Guest(new Agent(name, connection, welcome));
            if (System.nanoTime() - greeted > STALE.toNanos() && guest.can("clock")) {
                guest.setClock(hello.clock().instant(), deadline);
            }
            return new Greeting.Welcomed(guest);
        } catch (ProtocolException e) {
            throw connection.breach(e);
        } catch (Failure e) {
            connection.close(e);
            throw e;
        }
    }

    public boolean isOpen() {
        return agent.connection().isOpen();
    }

    /// Runs the listener once, when the connection is closed or at once if it is; on any thread, so it must not wait.
    public void onClose(Runnable listener) {
        agent.connection().onClose(listener);
    }

    @Override
    public void close() {
        agent.connection().close(closedByUs(agent.name()));
    }

    /// Closes it so that nothing of what the agent has said is under way any more: whoever waits for an answer is told that the connection
    /// was closed, the agent falls silent, and all it has said is taken. An agent that does not fall silent by the deadline, or does not
    /// know how, is cut off. Then its guest may lose a buffer of its port for good (see `docs/agent-protocol.md`, leave).
    public void leave(Deadline deadline) {
        var why = closedByUs(agent.name());
        if (can(Connection.LEAVE)) {
            agent.connection().leave(why, deadline);
        } else {
            agent.connection().close(why);
        }
    }

    /// Keeps anything from being asked, for a moment, until [#release] is called by the same thread.
    ///
    /// @return whether nothing is being asked, so that nothing is under way either way
    public boolean hold() {
        return agent.connection().hold();
    }

    public void release() {
        agent.connection().release();
    }

    public boolean can(String capability) {
        return agent.can(capability);
    }

    /// As the agent says, safe to show.
    public String agentVersion() {
        return agent.welcome().agentVersion();
    }

    public GuestFiles files() {
        return new GuestFiles(agent);
    }

    public GuestTerminals terminals() {
        return new GuestTerminals(agent);
    }

    /// Runs a command whose outcome is not worth more than this connection.
    public ExecOutcome exec(Exec exec, Deadline deadline) {
        return switch (run(RunningExec.of(exec), deadline)) {
            case ExecAttempt.Ended(var outcome) -> outcome;
            case ExecAttempt.Cut(var why) -> throw new Failure(why.code(), why.getMessage(), why);
            case ExecAttempt.Lost _ ->
                    throw new Failure(
                            Code.UNAVAILABLE, "%s lost the command".formatted(agent.name()));
        };
    }

    /// Starts the command or goes on with it, until it ends or the connection does. Fails if the guest will not run it (BAD_REQUEST, as for
    /// a user that does not exist; RATE_LIMITED; UNAVAILABLE), or if the deadline comes first: then it goes on in the guest, and a later
    /// call may wait for it again.
    public ExecAttempt run(RunningExec exec, Deadline deadline) {
        exec.begin();
        try {
            if (exec.hasTerminal()) {
                agent.require("pty.open");
            }
            var request = exec.request(agent.welcome().bootId());
            return request.isEmpty() ? new ExecAttempt.Lost() : run(exec, request.get(), deadline);
        } finally {
            exec.pause();
        }
    }

    /// Sends the signal to the process group of a command; false if the guest does not know the command.
    public boolean killExec(ExecId id, int signal, Deadline deadline) {
        var fields =
                Request.fields("exec.kill")
                        .uuid(Tag.EXEC_ID, id.value())
                        .number(Tag.SIGNAL, signal);
        return switch (agent.ask(Request.plain("exec.kill", fields), deadline)) {
            case Answer.Result _ -> true;
            case Answer.Refused(var code, _) when code.equals("NO_SUCH_EXEC") -> false;
            case Answer.Refused refused -> throw refused.failure(agent.name(), "exec.kill");
            case Answer.Closed closed -> throw closed.failure();
        };
    }

    public void setClock(Instant now, Deadline deadline) {
        agent.call("clock", Request.fields("clock").instant(Tag.WALL_CLOCK, now), deadline);
    }

    /// Has the guest write its file systems out.
    public void sync(Deadline deadline) {
        agent.call("sync", Request.fields("sync"), deadline);
    }

    /// Begins an orderly power-off; it goes on after this returns.
    public void shutdown(Deadline deadline) {
        agent.call("shutdown", Request.fields("shutdown"), deadline);
    }

    /// Grows the root file system to the size of its disk, and returns its new size.
    public Size growDisk(Deadline deadline) {
        var result = agent.call("disk.grow", Request.fields("disk.grow"), deadline);
        return agent.reading(() -> new Size(result.number(Tag.SIZE, Long.MAX_VALUE)));
    }

    /// Waits until there are this many processors, and brings them online.
    public void onlineCpus(int count, Deadline deadline) {
        agent.call("cpu.online", Request.fields("cpu.online").number(Tag.COUNT, count), deadline);
    }

    /// Waits until there is this much memory in all, and brings it online.
    public void onlineMemory(Size size, Deadline deadline) {
        agent.call(
                "memory.online",
                Request.fields("memory.online").number(Tag.SIZE, size.bytes()),
                deadline);
    }

    /// Gives the first network interface its settings; what is so already is not disturbed. BAD_REQUEST if a setting is malformed: then
    /// nothing was changed. UNAVAILABLE if there is no interface, or if the guest's kernel refused a setting: then the others were made.
    public void setNetwork(NetworkSettings settings, Deadline deadline) {
        agent.call("network", settings.fields(), deadline);
    }

    /// How long the agent takes to answer.
    public Duration ping(Deadline deadline) {
        long start = System.nanoTime();
        agent.connection().ping(deadline);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private ExecAttempt run(RunningExec exec, Request request, Deadline deadline) {
        var call = agent.open(request);
        exec.follow(agent.connection(), call);
        try {
            return switch (agent.connection().await(call, request.operation(), deadline)) {
                case Answer.Result(var result) -> new ExecAttempt.Ended(exec.outcome(result));
                case Answer.Closed(var why) -> new ExecAttempt.Cut(why);
                case Answer.Refused(var code, _) when code.equals("NO_SUCH_EXEC") ->
                        new ExecAttempt.Lost();
                case Answer.Refused(var code, _) when code.equals("NO_SUCH_USER") ->
                        throw new Failure(
                                Code.BAD_REQUEST,
                                "%s has no user %s; create it there first"
                                        .formatted(
                                                agent.name(),
                                                exec.user()
                                                        .map(GuestText::clean)
                                                        .orElse("to run commands as")));
                case Answer.Refused refused ->
                        throw refused.failure(agent.name(), request.operation());
            };
        } catch (ProtocolException e) {
            return new ExecAttempt.Cut(agent.connection().breach(e));
        } finally {
            exec.learn(call, agent.welcome().bootId());
        }
    }

    private static ByteBuffer opening(byte[] mark, Hello hello) {
        var frame = FrameWriter.encode(hello.frame());
        return ByteBuffer.allocate(Frame.MAX_BYTES + mark.length + frame.remaining())
                .position(Frame.MAX_BYTES)
                .put(mark)
                .put(frame)
                .flip();
    }

    private static Failure closedByUs(String name) {
        return new Failure(
                Code.UNAVAILABLE,
                "the connection to the guest agent of %s was closed".formatted(name));
    }
}
