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

    /// How long the first greeting is waited for.
    private static final Duration FIRST = Duration.ofSeconds(2);

    private final VmId vm;
    private final Qemu qemu;
    private final Generation generation;
    private final InstantSource clock;
    private final ReentrantLock connecting = new ReentrantLock();
    private volatile Optional<Guest> guest = Optional.empty();
    private volatile boolean isSuspended;

    /// @param run names this life of the VM: the agent compares it with the last one it saw
    GuestLine(VmId vm, Qemu qemu, UUID run, InstantSource clock) {
        this.vm = vm;
        this.qemu = qemu;
        this.generation = new Generation(run);
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
            connecting.unlock();
        }
    }

    /// An agent that does not answer is greeted anew, and each time waited for twice as long: seldom a port of QEMU's delivers nothing
    /// until its connection is closed. A copy is greeted once, since it is somebody else by its first greeting.
    private Greeting greet(Optional<Identity> identity, Deadline deadline) {
        var patience = identity.isPresent() ? deadline.left() : FIRST;
        while (true) {
            var until = deadline.atMost(patience);
            try {
                var hello = new Hello(generation, clock, RandomText.bytes(ENTROPY), identity);
                return Guest.connect(vm.text(), qemu.connectAgent(until), hello, until);
            } catch (Failure e) {
                if (!until.isPast() || deadline.isPast() || !qemu.isAlive()) {
                    throw e;
                }
                LOG.debug("{}: greeted anew: {}", vm, e.getMessage());
                patience = patience.multipliedBy(2);
            }
        }
    }

    private boolean hasLock(Deadline deadline) {
        try {
            return connecting.tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Ends the connection and makes no new one: the VM is about to be captured, and the capture should hold no half frame.
    void suspend() {
        isSuspended = true;
        guest.ifPresent(Guest::close);
    }

    /// Connections may be made again: the VM goes on.
    void allow() {
        isSuspended = false;
    }

    boolean isSuspended() {
        return isSuspended;
    }

    @Override
    public void close() {
        guest.ifPresent(Guest::close);
    }
}
