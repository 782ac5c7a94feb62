package coppice.ssh;

import coppice.base.Failure;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.apache.sshd.common.io.IoInputStream;
import org.apache.sshd.common.io.IoOutputStream;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.channel.ChannelSessionAware;
import org.apache.sshd.server.command.AsyncCommand;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What runs on a channel, as the library sees it. The library's threads only begin things here; they wait on threads of their own.
final class GuestCommand implements AsyncCommand, ChannelSessionAware {
    private static final Logger LOG = LoggerFactory.getLogger(GuestCommand.class);

    /// How many signals may be on their way to a guest; what comes more is dropped, as a signal that is pending already.
    private static final int SIGNALS = 4;

    private final String name;
    private final Function<Streams, Act> make;
    private final Input input = new Input();
    private final Semaphore signals = new Semaphore(SIGNALS);
    private final AtomicReference<Optional<TerminalSize>> size =
            new AtomicReference<>(Optional.empty());
    private GuestChannel channel;
    private Output stdout;
    private Output stderr;
    private volatile Optional<Act> act = Optional.empty();

    /// @param name of its threads
    GuestCommand(String name, Function<Streams, Act> make) {
        this.name = name;
        this.make = make;
    }

    @Override
    public void setChannelSession(ChannelSession its) {
        channel = (GuestChannel) its;
        channel.setDataReceiver(input);
    }

    @Override
    public void setIoOutputStream(IoOutputStream stream) {
        stdout = new Output(stream);
    }

    @Override
    public void setIoErrorStream(IoOutputStream stream) {
        stderr = new Output(stream);
    }

    @Override
    public void start(ChannelSession its, Environment environment) {
        var streams = new Streams(channel, input, stdout, stderr, new ReentrantLock());
        var made = make.apply(streams);
        act = Optional.of(made);
        Thread.ofVirtual().name(name).start(() -> run(made, streams));
    }

    private void run(Act made, Streams streams) {
        try {
            channel.end(outcome(made, streams));
        } catch (RuntimeException e) {
            LOG.debug("a client was gone before the end of what it ran", e);
        } finally {
            input.close();
        }
    }

    private static Ending outcome(Act made, Streams streams) {
        try {
            return made.run();
        } catch (Failure e) {
            LOG.debug("what a client ran failed", e);
            streams.tell(e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("what a client ran met a fault of ours", e);
            streams.tell("the server met a fault of its own; its log tells more");
        }
        return new Ending.Exited(Ending.FAILED);
    }

    /// The last size counts.
    void resize(TerminalSize now) {
        if (size.getAndSet(Optional.of(now)).isEmpty()) {
            Thread.ofVirtual().name(name + "-size").start(this::resizeToLast);
        }
    }

    private void resizeToLast() {
        size.getAndSet(Optional.empty())
                .ifPresent(now -> act.ifPresent(its -> orSay(() -> its.resize(now))));
    }

    void signal(int number) {
        if (signals.tryAcquire()) {
            Thread.ofVirtual()
                    .name(name + "-signal")
                    .start(
                            () -> {
                                try {
                                    act.ifPresent(its -> orSay(() -> its.signal(number)));
                                } finally {
                                    signals.release();
                                }
                            });
        }
    }

    private static void orSay(Runnable control) {
        try {
            control.run();
        } catch (Failure e) {
            LOG.debug("a terminal was not told of its client", e);
        }
    }

    @Override
    public void destroy(ChannelSession its) {
        input.close();
        act.ifPresent(Act::hangUp);
    }

    @Override
    public void setExitCallback(ExitCallback callback) {
        // The channel says how it ended.
    }

    @Override
    public void setIoInputStream(IoInputStream stream) {
        // Input has a receiver of its own.
    }

    @Override
    public void setInputStream(InputStream stream) {
        // As above.
    }

    @Override
    public void setOutputStream(OutputStream stream) {
        // Not asked for.
    }

    @Override
    public void setErrorStream(OutputStream stream) {
        // Not asked for.
    }
}
