package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.guest.Generation;
import coppice.guest.Greeting;
import coppice.guest.Guest;
import coppice.guest.Hello;
import coppice.guest.Identity;
import coppice.qemu.Qemu;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connection to the agent of one running VM, made anew when it breaks.
///
/// One thread connects at a time; the others wait for it. An agent that sends garbage loses its connection and gets another one only
/// when somebody asks again.
final class GuestLine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GuestLine.class);
    private static final int ENTROPY = 64;

    /// How long an agent may take to fall silent. One that works takes milliseconds.
    private static final Duration LEAVE = Duration.ofSeconds(1);

    private final VmId vm;
    private final Qemu qemu;
    private final Generation generation;
    private final InstantSource clock;
    private final ReentrantLock connecting = new ReentrantLock();
    private volatile Optional<SocketChannel> ungreeted;
    private volatile Optional<Guest> guest = Optional.empty();
    private volatile boolean isSuspended;

    /// @param run names this life of the VM: the agent compares it with the last one it saw
    /// @param channel to the agent's port, if there is one already
    GuestLine(VmId vm, Qemu qemu, UUID run, Optional<SocketChannel> channel, InstantSource clock) {
        this.vm = vm;
        this.qemu = qemu;
        this.generation = new Generation(run);
        this.ungreeted = channel;
        this.clock = clock;
    }

    /// The first connection of a copy: the agent becomes somebody else before it answers.
    Guest introduce(Identity identity, Deadline deadline) {
        return connect(Optional.of(identity), deadline);
    }

    /// The agent, connected.
    Guest guest(Deadline deadline) {
        return guest.filter(Guest::isOpen).orElseGet(() -> connect(Optional.empty(), deadline));
    }

    private Guest connect(Optional<Identity> identity, Deadline deadline) {
        if (!hasLock(deadline)) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the guest agent of %s cannot be reached in time".formatted(vm));
        }
        try {
            if (isSuspended) {
                throw new Failure(Code.UNAVAILABLE, "%s is being paused".formatted(vm));
            }
            var present = guest.filter(Guest::isOpen);
            if (present.isPresent()) {
                return present.get();
            }
            return switch (greet(identity, deadline)) {
                case Greeting.Welcomed(var made) -> {
                    guest = Optional.of(made);
                    yield made;
                }
                case Greeting.Refused(_, var message) ->
                        throw new Failure(
                                Code.UNAVAILABLE,
                                "the guest of %s could not become itself: %s"
                                        .formatted(vm, message));
            };
        } finally {
            ungreeted = Optional.empty();
            connecting.unlock();
        }
    }

    private Greeting greet(Optional<Identity> identity, Deadline deadline) {
        var channel = ungreeted.orElseGet(() -> qemu.connectAgent(deadline));
        ungreeted = Optional.of(channel);
        var hello = new Hello(generation, clock, RandomText.bytes(ENTROPY), identity);
        return Guest.connect(vm.text(), channel, hello, deadline);
    }

    private boolean hasLock(Deadline deadline) {
        try {
            return connecting.tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Keeps anything from being asked of the agent, for a moment; what is asked meanwhile waits. To be closed by the same thread.
    Hold hold() {
        if (!connecting.tryLock()) {
            return new Hold(false, () -> {});
        }
        var held = guest;
        boolean isStill = held.map(Guest::hold).orElse(true);
        return new Hold(
                isStill,
                () -> {
                    held.ifPresent(Guest::release);
                    connecting.unlock();
                });
    }

    /// @param isStill whether nothing is under way between server and agent
    record Hold(boolean isStill, Runnable release) implements AutoCloseable {
        @Override
        public void close() {
            release.run();
        }
    }

    /// Ends the connection and makes no new one: the VM is about to be captured, and the capture should hold nothing that is under way.
    void suspend() {
        isSuspended = true;
        close();
    }

    /// Connections may be made again: the VM goes on.
    void allow() {
        isSuspended = false;
    }

    boolean isSuspended() {
        return isSuspended;
    }

    /// A greeting under way is waited for, since it ends soon or never.
    @Override
    public void close() {
        var deadline = Deadline.in(LEAVE);
        if (hasLock(deadline)) {
            connecting.unlock();
        }
        ungreeted.ifPresent(GuestLine::cut);
        guest.ifPresent(made -> made.leave(deadline));
    }

    private static void cut(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("closing the channel to a guest agent", e);
        }
    }
}
