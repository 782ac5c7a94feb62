package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.qemu.Exit;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One VM: its state, its machine while it has one, and every transition between states ([VmState] has the table).
///
/// All methods but those that say otherwise run on the VM's loop. Each transition is written to the store first, then made in memory.
final class VmLife {
    private static final Logger LOG = LoggerFactory.getLogger(VmLife.class);

    /// What was due and failed is not tried again before.
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final Duration CUT = Duration.ofMillis(50);

    private final VmContext context;
    private final VmLoop loop;
    private final Growing growing;
    private final Starts starts;
    private final Pauses pauses;
    private final Waker waker;
    private final AtomicBoolean isDueSeen = new AtomicBoolean();
    private final Presence presence;
    private volatile Instant patience = Instant.MIN;

    VmLife(VmContext context, Vm vm) {
        this.context = context;
        this.presence = new Presence(context, vm);
        this.loop = new VmLoop(vm.id());
        this.growing = new Growing(context.machines(), context.node());
        this.starts = new Starts(context, this, presence, growing);
        this.pauses = new Pauses(context, presence);
        var quota = new Quota(context.fleet(), context.limits());
        this.waker = new Waker(this, quota, context.limits().start());
    }

    VmLoop loop() {
        return loop;
    }

    /// The VM as it last was. From any thread.
    Vm vm() {
        return presence.vm();
    }

    /// The machine, while the VM runs. From any thread.
    Optional<Machines.Live> live() {
        return presence.live();
    }

    Activity activity() {
        return presence.activity();
    }

    Waker waker() {
        return waker;
    }

    /// The machine of a VM that runs and can be used. From any thread.
    Optional<Machines.Live> up() {
        return presence.up();
    }

    /// Has the loop do what must not wait for anything: what the loop is in the middle of is ended. Again and again until its turn has
    /// come, since a start that has just begun has no process yet that could be ended. From any thread.
    <T> T cutFor(Callable<T> work, Deadline deadline) {
        var turn = new CountDownLatch(1);
        var task =
                loop.submit(
                        () -> {
                            turn.countDown();
                            return work.call();
                        });
        try {
            do {
                if (loop.isBusy() && turn.getCount() > 0) {
                    context.machines().sweep(vm().id());
                }
            } while (!turn.await(CUT.toMillis(), TimeUnit.MILLISECONDS)
                    && !task.isDone()
                    && !deadline.isPast());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return loop.await(task, deadline);
    }

    /// A server that starts found the VM's machine running. Before the loop starts.
    void adopt(Machines.Live machine) {
        presence.adopt(machine);
    }

    /// A server that starts found the VM in another state than the store says. Before the loop starts.
    void recover(VmState found) {
        if (!vm().state().equals(found)) {
            presence.become(found);
        }
    }

    /// How the machine of a new VM comes to life.
    interface Birth {
        Machines.Live bear(Vm vm, UUID run, Consumer<Exit> onExit, Deadline deadline);
    }

    /// Creates the VM's machine. When it fails the VM is gone, with everything that was its own.
    Vm create(Birth birth, Deadline deadline) {
        return create(birth, context.records()::changeProgress, deadline);
    }

    /// As [#create(Birth, Deadline)].
    ///
    /// @param write writes to the store that the VM runs
    Vm create(Birth birth, Consumer<Vm> write, Deadline deadline) {
        try {
            var run = UUID.randomUUID();
            presence.run(run, birth.bear(vm(), run, exit -> hear(run, exit), deadline), write);
            return vm();
        } catch (RuntimeException e) {
            discardAfter(e);
            throw e;
        }
    }

    /// Takes a create back; why it failed is what the caller is told, whatever else fails now.
    private void discardAfter(RuntimeException why) {
        try {
            discard();
        } catch (RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    Vm start(Deadline deadline) {
        return switch (vm().state()) {
            case VmState.Running _ -> vm();
            case VmState.Resting before -> {
                starts.start(before, deadline);
                yield vm();
            }
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        };
    }

    Vm pause(Deadline deadline) {
        switch (vm().state()) {
            case VmState.Paused _ -> {}
            case VmState.Running running -> pause(() -> pauses.pause(running, deadline));
            case VmState.Stopped _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is stopped; only a running VM can be paused".formatted(vm().id()));
            case VmState.Restarting _ -> throw starting("pause it when it runs");
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    private void pause(Runnable act) {
        try {
            act.run();
        } finally {
            lookAtTime(); // one that rests may be due to be deleted at once
        }
    }

    /// Captures the VM into `place`; the VM stays what it is.
    Vm snapshot(Path place, Deadline deadline) {
        var capturing = context.machines().capturing();
        switch (vm().state()) {
            case VmState.Running _ -> {
                var live = live().orElseThrow();
                try (var _ = context.node().takeRoom(live.qemu().ownMemory())) {
                    capturing.snapshot(vm(), live, place, deadline);
                }
            }
            case VmState.Paused(_, var generation) ->
                    capturing.copy(context.machines().pauseOf(vm().id(), generation), place);
            case VmState.Stopped _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is stopped; start it, a snapshot holds memory too"
                                    .formatted(vm().id()));
            case VmState.Restarting _ -> throw starting("take the snapshot when that is done");
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    /// What is done to the VM when it is forked.
    interface Forking {
        void capture(Vm vm, Optional<Machines.Live> live);
    }

    /// Has the VM captured for copies of it; it stays what it is.
    Vm fork(Forking forking) {
        forking.capture(vm(), live());
        return vm();
    }

    Vm stop(Deadline deadline) {
        switch (vm().state()) {
            case VmState.Stopped _ -> {}
            case VmState.Paused(_, var generation) -> dropMemory(generation);
            case VmState.Running _ -> {
                PowerOff.of(
                        vm().id(),
                        live().orElseThrow(),
                        deadline.atMost(context.limits().powerOff()));
                rest();
            }
            case VmState.Restarting _ -> throw starting("stop it when it runs, or kill it");
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    Vm kill() {
        switch (vm().state()) {
            case VmState.Stopped _ -> {}
            case VmState.Paused(_, var generation) -> dropMemory(generation);
            case VmState.Running _ -> {
                live().ifPresent(machine -> machine.qemu().kill());
                rest();
            }
            case VmState.Restarting _ -> rest();
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    private void dropMemory(UUID generation) {
        context.machines().dropPause(vm(), generation);
        rest();
    }

    /// It is stopped, because somebody wanted that.
    private void rest() {
        presence.rest(new VmState.Stopped(presence.now(), Optional.empty()));
        lookAtTime();
    }

    /// Removes the VM and everything that was its own.
    Vm delete() {
        discard();
        return vm();
    }

    /// What cannot be removed leaves the VM there, so that its delete can be repeated.
    private void discard() {
        context.forget(vm());
        presence.leaveMachine();
        context.machines().delete(vm().id());
        loop.leave();
        context.fleet().remove(vm().id());
        context.node().releaseMemory(vm().id().text());
        context.node().releaseUser(vm().hardware().user());
    }

    Vm update(UnaryOperator<Vm.Settings> change, boolean reassign) {
        presence.change(change, reassign);
        lookAtTime();
        return vm();
    }

    /// Another VM took this one's slug; the store knows already.
    void loseSlug() {
        presence.loseSlug();
    }

    Vm resize(Growth growth, Deadline deadline) {
        var wanted = growth.applyTo(vm().hardware().resources());
        switch (vm().state()) {
            case VmState.Running _ -> growing.grow(this, wanted, deadline);
            case VmState.Paused _ -> {
                Growth.requireSameStorage(vm(), wanted);
                Growth.requireRoom(vm().hardware().shape(), wanted);
                change(vm().hardware().with(wanted));
            }
            case VmState.Stopped _, VmState.Restarting _ -> {
                Growth.requireSameStorage(vm(), wanted);
                change(vm().hardware().with(wanted));
            }
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    /// Writes what the VM runs on, if it has changed.
    void change(Vm.Hardware hardware) {
        presence.change(hardware);
    }

    /// The machine ended by itself.
    void hear(UUID run, Exit exit) {
        loop.tell(
                () -> {
                    if (vm().state() instanceof VmState.Running running
                            && running.run().equals(run)) {
                        end(exit);
                        lookAtTime();
                    }
                });
    }

    /// The machine of a VM that ran is gone. On the loop, or before it starts.
    void end(Exit exit) {
        LOG.info("{} ended: {}", vm().id(), exit);
        switch (exit) {
            case POWER_OFF, ASKED ->
                    presence.rest(new VmState.Stopped(presence.now(), Optional.empty()));
            case REBOOT ->
                    presence.rest(
                            new VmState.Restarting(
                                    presence.now(), presence.now(), Optional.empty()));
            case PANIC -> presence.fail("the guest's kernel panicked");
            case CRASHED -> presence.fail("the virtual machine monitor ended unexpectedly");
        }
    }

    /// Has what is due done by the loop. From any thread; never waits.
    void lookAtTime() {
        if (due(activity().seen()) != Due.NOTHING && isDueSeen.compareAndSet(false, true)) {
            try {
                loop.submit(this::actOnTime);
            } catch (Failure e) {
                isDueSeen.set(false); // it is gone, or has much to do: the next look tries again
            }
        }
    }

    private Due due(Activity.Seen activity) {
        var now = presence.now();
        return now.isBefore(patience) ? Due.NOTHING : Due.of(vm(), activity, now);
    }

    /// The VM may have been used, or changed, since it was seen to be due.
    private Vm actOnTime() {
        isDueSeen.set(false);
        var activity = activity().seen();
        var due = due(activity);
        try {
            switch (due) {
                case NOTHING -> {}
                case IDLE_PAUSE -> pauseIdle(activity);
                case PAUSE -> pause(Deadline.in(context.limits().pause()));
                case RESTART -> starts.restart((VmState.Restarting) vm().state());
                case DELETE -> {
                    LOG.info("{} is deleted: its time is over", vm().id());
                    delete();
                }
            }
        } catch (RuntimeException e) {
            patience = presence.now().plus(RETRY);
            LOG.warn("{}: {} failed and is tried again: {}", vm().id(), due, e.getMessage(), e);
        }
        return vm();
    }

    private void pauseIdle(Activity.Seen idle) {
        var running = (VmState.Running) vm().state();
        pause(() -> pauses.pauseIdle(running, idle, Deadline.in(context.limits().pause())));
    }

    private Failure starting(String remedy) {
        return new Failure(Code.CONFLICT, "%s is starting; %s".formatted(vm().id(), remedy));
    }

    /// The loop does one thing at a time, and each leaves these states before it ends.
    private IllegalStateException between() {
        return new IllegalStateException(
                "%s is %s between two requests".formatted(vm().id(), vm().state().word()));
    }
}
