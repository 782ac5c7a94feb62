package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Undo;
import coppice.guest.Guest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;

/// Has one VM run for whoever needs it. All who need it at the same time wait for the same start and are told the same when it fails.
/// From any thread.
final class Waker {
    private static final Duration POLL = Duration.ofMillis(50);

    private final VmLife life;
    private final Quota quota;
    private final Duration limit;
    private final ReentrantLock lock = new ReentrantLock();
    private Optional<FutureTask<Vm>> start = Optional.empty();

    /// @param limit the longest that a start may take
    Waker(VmLife life, Quota quota, Duration limit) {
        this.life = life;
        this.quota = quota;
        this.limit = limit;
    }

    /// Starts the VM if it does not run. What is being done to it is waited for.
    ///
    /// @param patience how long the caller waits; the start goes on without it
    Vm start(Optional<Duration> patience) {
        return life.loop().await(begin(), Deadline.in(limit).atMost(patience.orElse(limit)));
    }

    /// As [#wake(Deadline)], within the limit of a start.
    Machines.Live wake() {
        return wake(Deadline.in(limit));
    }

    /// The machine of the VM, which is started if it is paused or stopped. What is being done to it is waited for, and so is an automatic
    /// restart: a VM that keeps ending is not started more often because it is wanted.
    Machines.Live wake(Deadline deadline) {
        var until = deadline.atMost(limit);
        while (true) {
            var up = life.up();
            if (up.isPresent()) {
                return up.get();
            }
            if (until.isPast()) {
                throw new Failure(
                        Code.VM_START_TIMEOUT,
                        "%s is %s and did not get up in time; try again"
                                .formatted(life.vm().id(), life.vm().state().word()));
            }
            if (!(life.vm().state() instanceof VmState.Restarting)) {
                life.loop().await(begin(), until);
            }
            if (life.up().isEmpty()) { // restarting, or it has ended or was paused in between
                life.loop().requireThere();
                rest();
            }
        }
    }

    /// Wakes the VM, holds it awake and uses its guest.
    <T> T use(Deadline deadline, AwakeUse<T> use) {
        // First held, then woken: no timer comes between the wake and the use.
        try (var _ = life.activity().hold()) {
            return use.with(guest(deadline));
        }
    }

    /// As [#use], for a use that goes on after this returns.
    AwakeGuest hold(Deadline deadline) {
        try (var undo = new Undo()) {
            var hold = undo.add(life.activity().hold());
            var guest = guest(deadline);
            undo.keep();
            return new AwakeGuest(guest, hold);
        }
    }

    /// Uses the guest of the VM when it runs, without waking it or holding it awake.
    <T> T reach(Deadline deadline, AwakeUse<T> use) {
        while (true) {
            var machine = awaitUp(deadline);
            var guest = guest(machine, deadline);
            if (guest.isPresent()) {
                return use.with(guest.get());
            }
        }
    }

    private Guest guest(Deadline deadline) {
        while (true) {
            var guest = guest(wake(deadline), deadline);
            if (guest.isPresent()) {
                return guest.get();
            }
        }
    }

    /// The guest, unless its machine went away meanwhile and there is, or may be, another one to look for. Whoever stopped the VM meant
    /// also those who wait for it.
    private Optional<Guest> guest(Machines.Live machine, Deadline deadline) {
        try {
            return Optional.of(machine.line().guest(deadline));
        } catch (Failure e) {
            if (!machine.line().isSuspended()) {
                requireGone(machine, e, deadline);
            }
            if (deadline.isPast()) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private void requireGone(Machines.Live machine, Failure why, Deadline deadline) {
        if (machine.qemu().isAlive()) {
            throw why;
        }
        while (isSaidToRun(machine)) { // nobody has heard of its end yet
            if (deadline.isPast()) {
                throw why;
            }
            rest();
        }
        if (life.vm().state() instanceof VmState.Stopped) {
            throw stopped();
        }
    }

    private boolean isSaidToRun(Machines.Live machine) {
        return life.vm().state() instanceof VmState.Running
                && life.live().filter(other -> !other.equals(machine)).isEmpty();
    }

    /// The machine of the VM, which is not started: whoever paused it meant it.
    Machines.Live awaitUp(Deadline deadline) {
        while (true) {
            var up = life.up();
            if (up.isPresent()) {
                return up.get();
            }
            if (life.vm().state().hasLostWhatRan()) {
                throw stopped();
            }
            if (deadline.isPast() || life.loop().isGone()) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "%s is %s; what was begun in it goes on when it runs"
                                .formatted(life.vm().id(), life.vm().state().word()));
            }
            rest();
        }
    }

    private Failure stopped() {
        return new Failure(
                Code.UNAVAILABLE,
                "%s has stopped, and what ran in it with it".formatted(life.vm().id()));
    }

    private FutureTask<Vm> begin() {
        lock.lock();
        try {
            if (start.isEmpty() || start.get().isDone()) {
                quota.requireStart(life.vm());
                var deadline = Deadline.in(limit);
                start = Optional.of(life.loop().submit(() -> life.start(deadline)));
            }
            return start.get();
        } finally {
            lock.unlock();
        }
    }

    private static void rest() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for a VM", e);
        }
    }
}
