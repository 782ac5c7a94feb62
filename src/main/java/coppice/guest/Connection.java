package coppice.guest;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The streams of one connection, and its two threads: `guest-…` reads, `guest-…-writer` writes. Nobody else touches the
/// channel, except to close it.
///
/// *Greeting* until the agent's WELCOME has come, then *open*, at last *closed*: by us, by the other end, or by its first breach
/// of the protocol. Closing answers every call and every ping. Before we close it may be *leaving*, for the agent to fall silent.
final class Connection {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /// The operation that an agent is asked for last.
    static final String LEAVE = "leave";

    private static final int MAX_STALE = 4 << 20;

    private final String name;
    private final ByteChannel channel;
    private final Outbox outbox = new Outbox();
    private final Pings pings = new Pings();
    private final Calls calls;
    private final Slot<Answer> greeting = new Slot<>();
    private final Thread writer;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Runnable> listeners = new ArrayList<>();
    private Optional<Failure> closed = Optional.empty();

    /// Owns the channel. Writes `first`, then drops bytes up to `mark` and expects the WELCOME.
    Connection(String name, ByteChannel channel, ByteBuffer first, byte[] mark) {
        this.name = name;
        this.channel = channel;
        this.calls = new Calls(name, outbox);
        this.writer =
                Thread.ofVirtual()
                        .name("guest-" + name + "-writer")
                        .unstarted(() -> writeAll(first));
        writer.start();
        Thread.ofVirtual().name("guest-" + name).start(() -> readAll(mark));
    }

    /// WELCOME as a `Result`.
    Answer greeting(Deadline deadline) {
        return await(greeting, "its greeting", deadline);
    }

    /// Begins a call. If the connection is closed the call is answered by that at once.
    Call open(Request request, long bodyCredit) {
        return calls.begin(request, bodyCredit);
    }

    /// Waits for the answer; if it does not come in time the call is abandoned.
    Answer await(Call call, String operation, Deadline deadline) {
        try {
            return await(call.answer(), operation, deadline);
        } catch (Failure e) {
            abandon(call);
            throw e;
        }
    }

    /// Looks at what flows in a call until something is found; empty if the deadline came first. What the look has left to send is sent.
    <T> Optional<T> await(Call call, Call.Look<T> look, Deadline deadline) {
        try {
            var found = call.await(look, deadline);
            sendMore(call);
            return found;
        } catch (ProtocolException e) {
            var why = breach(e);
            throw new Failure(why.code(), why.getMessage(), why);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /// Sends what somebody has left to send in a call that others wait for.
    void sendMore(Call call) {
        if (call.hasMoreToSend()) {
            outbox.ready(call);
        }
    }

    /// Nobody waits for the call any more; if it is not over, the agent is told.
    void abandon(Call call) {
        call.abandon();
        outbox.ready(call);
    }

    void ping(Deadline deadline) {
        var slot = new Slot<Answer>();
        long ping = pings.add(slot);
        try {
            outbox.ready(pings);
            // Looked at after adding: a close before it is seen here, a later one finds the slot.
            calls.over().ifPresent(why -> slot.fill(new Answer.Closed(why)));
            if (await(slot, "a ping", deadline) instanceof Answer.Closed(var why)) {
                throw new Failure(why.code(), why.getMessage(), why);
            }
        } finally {
            pings.remove(ping);
        }
    }

    /// Keeps anything from being asked, for a moment and until the same thread releases it; what comes meanwhile waits.
    ///
    /// @return whether nothing is asked, so that nothing is sent either way
    boolean hold() {
        return calls.hold() && outbox.isIdle();
    }

    void release() {
        calls.release();
    }

    boolean isOpen() {
        return calls.over().isEmpty();
    }

    /// Runs the listener once the connection is closed: now, if it is.
    void onClose(Runnable listener) {
        lock.lock();
        try {
            if (closed.isEmpty()) {
                listeners.add(listener);
                return;
            }
        } finally {
            lock.unlock();
        }
        listener.run();
    }

    /// Closes because of what the other end sent. Only this is worth a line in the log, one for each connection.
    Failure breach(ProtocolException e) {
        var breach =
                new Failure(
                        Code.UNAVAILABLE,
                        "the guest agent of %s broke the protocol: %s"
                                .formatted(name, e.getMessage()),
                        e);
        var why = close(breach);
        if (why == breach) {
            LOG.info("{}", breach.getMessage());
        }
        return why;
    }

    /// Answers every call and ping by `why`, has the agent fall silent, takes what it has said, and closes. An agent that has not fallen
    /// silent by the deadline is cut off.
    void leave(Failure why, Deadline deadline) {
        var last = calls.last(Request.plain(LEAVE, Request.fields(LEAVE)), why);
        pings.close(why);
        if (last.isPresent()) {
            try {
                var _ = last.get().answer().await(deadline);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
        close(why);
    }

    /// Closes for the given reason, and returns the reason for which it was closed first.
    Failure close(Failure why) {
        List<Runnable> told;
        lock.lock();
        try {
            if (closed.isPresent()) {
                return closed.get();
            }
            closed = Optional.of(why);
            told = List.copyOf(listeners);
            listeners.clear();
        } finally {
            lock.unlock();
        }
        closeChannel();
        writer.interrupt();
        greeting.fill(new Answer.Closed(why));
        pings.close(why);
        calls.close(why);
        told.forEach(Runnable::run);
        return why;
    }

    private void closeChannel() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("closing the channel to the guest agent of {}", name, e);
        }
    }

    private Answer await(Slot<Answer> slot, String what, Deadline deadline) {
        try {
            return slot.await(deadline).orElseThrow(() -> late(what));
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private Failure interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new Failure(
                Code.UNAVAILABLE,
                "waiting for the guest agent of %s was interrupted".formatted(name),
                e);
    }

    /// The agent did not do `what` by the deadline.
    Failure late(String what) {
        return new Failure(
                Code.UNAVAILABLE,
                "the guest agent of %s did not answer %s in time; see whether the VM is busy"
                        .formatted(name, what));
    }

    private void readAll(byte[] mark) {
        serve(
                () -> {
                    var reader = new FrameReader(channel);
                    reader.skipPast(mark, MAX_STALE);
                    for (var frame = reader.next(); frame.isPresent(); frame = reader.next()) {
                        receive(frame.get());
                    }
                });
    }

    private void receive(Frame frame) throws ProtocolException {
        if (!greeting.isFilled()) {
            if (frame.kind() != FrameKind.WELCOME) {
                throw new ProtocolException("%s came instead of WELCOME".formatted(frame.kind()));
            }
            greeting.fill(new Answer.Result(Fields.parse(frame.payload())));
            return;
        }
        switch (frame.kind()) {
            case DATA, END, CREDIT, RESULT, RESET -> receiveForCall(frame);
            case PING, PONG -> {
                pings.receive(frame);
                outbox.ready(pings);
            }
            case HELLO, WELCOME, OPEN ->
                    throw new ProtocolException("an unexpected %s came".formatted(frame.kind()));
        }
    }

    private void receiveForCall(Frame frame) throws ProtocolException {
        var call = calls.find(frame.stream());
        if (call.isPresent()) {
            if (call.get().receive(frame)) {
                outbox.ready(call.get());
            }
            calls.forgetIfOver(call.get());
        }
    }

    private void writeAll(ByteBuffer first) {
        serve(
                () -> {
                    var frames = new FrameWriter(channel);
                    frames.write(first);
                    while (true) {
                        var sender = outbox.take();
                        var frame = sender.next();
                        if (frame.isPresent()) {
                            frames.write(frame.get());
                            outbox.ready(sender);
                        }
                        if (sender instanceof Call call) {
                            calls.forgetIfOver(call);
                        }
                    }
                });
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    /// Whatever way the work of a thread ends, the connection ends with it.
    private void serve(Work work) {
        try {
            work.run();
            close(
                    new Failure(
                            Code.UNAVAILABLE,
                            "the guest agent of %s closed the connection".formatted(name)));
        } catch (ProtocolException e) {
            breach(e);
        } catch (IOException | InterruptedException e) {
            close(
                    new Failure(
                            Code.UNAVAILABLE,
                            "the connection to the guest agent of %s was lost".formatted(name),
                            e));
        } catch (RuntimeException | Error e) {
            LOG.error("a fault of ours in the connection to the guest agent of {}", name, e);
            close(
                    new Failure(
                            Code.INTERNAL_ERROR,
                            "the connection to the guest agent of %s failed: a fault of ours"
                                    .formatted(name),
                            e));
        }
    }
}
