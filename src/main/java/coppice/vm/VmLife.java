package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.qemu.Exit;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One VM: its state, its machine while it has one, and every transition between states ([VmState] has the table).
///
/// All methods but those that say otherwise run on the VM's loop. Each transition is written to the store first, then made in memory.
final class VmLife {
    private static final Logger LOG = LoggerFactory.getLogger(VmLife.class);

    private final VmContext context;
    private final VmLoop loop;
    private final Growing growing;
    private final Activity activity;
    private final Waker waker;
    private final Presence presence;

    VmLife(VmContext context, Vm vm) {
        this.context = context;
        this.presence = new Presence(context, vm);
        this.loop = new VmLoop(vm.id());
        this.growing = new Growing(context.machines(), context.node());
        this.activity = new Activity(context.clock(), Optional.empty());
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
        return activity;
    }

    Waker waker() {
        return waker;
    }

    /// The machine of a VM that runs and can be used. From any thread.
    Optional<Machines.Live> up() {
        return presence.up();
    }

    /// Ends what a kill or a delete must not wait for. From any thread.
    void cut() {
        if (loop.isBusy()) {
            context.machines().sweep(vm().id());
        }
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
            case VmState.Resting before -> startFrom(before, deadline);
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        };
    }

    private Vm startFrom(VmState.Resting before, Deadline deadline) {
        vm().requireBudget(presence.now());
        context.node().promiseMemory(vm().id().text(), vm().hardware().resources().memory());
        try (var _ = context.node().awaitTurn(deadline)) {
            presence.become(new VmState.Starting(presence.now(), before));
            var run = UUID.randomUUID();
            switch (before) {
                case VmState.Paused(_, var generation) ->
                        run(
                                run,
                                context.machines()
                                        .resume(
                                                vm(),
                                                generation,
                                                run,
                                                exit -> hear(run, exit),
                                                deadline));
                case VmState.Stopped _ -> {
                    context.fleet().requirePlace(vm());
                    presence.bootFresh();
                    run(run, context.machines().boot(vm(), run, exit -> hear(run, exit), deadline));
                }
            }
        } catch (RuntimeException e) {
            context.machines().sweep(vm().id());
            presence.leaveMachine();
            presence.become(before);
            context.node().releaseMemory(vm().id().text());
            throw e;
        }
        settle(deadline);
        return vm();
    }

    /// What is left to do when the VM already runs. That it runs is worth more than any of this: a failure is not the start's.
    private void settle(Deadline deadline) {
        try {
            context.machines().clearPauses(vm().id(), Optional.empty());
            growing.afterResume(this, deadline);
        } catch (Failure e) {
            LOG.warn("{} runs, but: {}", vm().id(), e.getMessage());
        }
    }

    Vm pause(Deadline deadline) {
        return switch (vm().state()) {
            case VmState.Paused _ -> vm();
            case VmState.Running running -> pauseFrom(running, deadline);
            case VmState.Stopped _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is stopped; only a running VM can be paused".formatted(vm().id()));
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        };
    }

    private Vm pauseFrom(VmState.Running running, Deadline deadline) {
        var machine = live().orElseThrow();
        var generation = UUID.randomUUID();
        try (var _ = context.node().takeRoom(machine.qemu().ownMemory())) {
            presence.become(new VmState.Pausing(presence.now(), running, generation));
            context.machines().pause(vm(), machine, generation, deadline);
        } catch (RuntimeException e) {
            afterFailedPause(running, machine);
            throw e;
        }
        presence.rest(new VmState.Paused(presence.now(), generation));
        context.machines().clearPaused(vm().id());
        return vm();
    }

    private void afterFailedPause(VmState.Running running, Machines.Live machine) {
        if (vm().state().equals(running)) {
            return; // it was never begun
        }
        if (machine.qemu().isAlive()) {
            presence.become(running);
        } else {
            presence.rest(
                    new VmState.Stopped(
                            presence.now(),
                            Optional.of("the VM ended while its memory was being saved")));
        }
    }

    /// Captures the VM into `place`; the VM stays what it is.
    Vm snapshot(Path place, Deadline deadline) {
        var capturing = context.machines().capturing();
        switch (vm().state()) {
            case VmState.Running _ -> {
                var qemu = live().orElseThrow().qemu();
                try (var _ = context.node().takeRoom(qemu.ownMemory())) {
                    capturing.snapshot(vm(), qemu, place, deadline);
                }
            }
            case VmState.Paused(_, var generation) ->
                    capturing.copy(context.machines().pauseOf(vm().id(), generation), place);
            case VmState.Stopped _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is stopped; start it, a snapshot holds memory too"
                                    .formatted(vm().id()));
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
                presence.rest(new VmState.Stopped(presence.now(), Optional.empty()));
            }
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
                presence.rest(new VmState.Stopped(presence.now(), Optional.empty()));
            }
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> throw between();
        }
        return vm();
    }

    private void dropMemory(UUID generation) {
        context.machines().dropPause(vm(), generation);
        presence.become(new VmState.Stopped(presence.now(), Optional.empty()));
    }

    /// Removes the VM and everything that was its own.
    Vm delete() {
        discard();
        return vm();
    }

    private void discard() {
        context.records().delete(vm().id());
        loop.leave();
        context.fleet().remove(vm().id());
        presence.leaveMachine();
        context.machines().delete(vm().id());
        context.node().releaseMemory(vm().id().text());
        context.node().releaseUser(vm().hardware().user());
    }

    Vm update(UnaryOperator<Vm.Settings> change, boolean reassign) {
        presence.change(change, reassign);
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
            case VmState.Stopped _ -> {
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
                        LOG.info("{} ended: {}", vm().id(), exit);
                        presence.rest(new VmState.Stopped(presence.now(), reason(exit)));
                        if (exit == Exit.REBOOT) {
                            start(Deadline.in(context.limits().start()));
                        }
                    }
                });
    }

    private static Optional<String> reason(Exit exit) {
        return switch (exit) {
            case POWER_OFF, REBOOT, ASKED -> Optional.empty();
            case PANIC -> Optional.of("the guest's kernel panicked");
            case CRASHED -> Optional.of("the virtual machine monitor ended unexpectedly");
        };
    }

    private void run(UUID run, Machines.Live machine) {
        presence.run(run, machine, context.records()::changeProgress);
    }

    /// The loop does one thing at a time, and each leaves these states before it ends.
    private IllegalStateException between() {
        return new IllegalStateException(
                "%s is %s between two requests".formatted(vm().id(), vm().state().word()));
    }
}
