package coppice.vm;

import coppice.base.Failure;
import coppice.qemu.Exit;
import java.nio.file.Files;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings what the store says and what this host really has together when the server starts: adopts machines that run, finishes or
/// takes back what the former server had begun, and ends what belongs to nobody. Repeating it changes nothing.
final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private final VmContext context;
    private final VmFiles files;
    private final Strangers strangers;

    Recovery(VmContext context, VmFiles files, Strangers strangers) {
        this.context = context;
        this.files = files;
        this.strangers = strangers;
    }

    /// Fills the fleet.
    void run() {
        var vms = context.records().all();
        vms.forEach(vm -> context.node().keepUser(vm.hardware().user()));
        for (var vm : vms) {
            try {
                recover(vm);
            } catch (RuntimeException e) {
                LOG.error("{} could not be recovered: {}", vm.id(), e.getMessage(), e);
                settle(
                        vm,
                        new VmState.Stopped(
                                now(),
                                Optional.of("it could not be recovered: " + e.getMessage())));
            }
        }
        for (var stranger : strangers.sweep()) {
            LOG.warn("removed what belongs to no VM: {}", stranger);
        }
        for (var namespace : context.machines().wiring().sweep()) {
            LOG.warn("removed a network of no VM: {}", namespace);
        }
    }

    private void recover(Vm vm) {
        switch (vm.state()) {
            case VmState.Creating _ -> remove(vm); // nobody was told of it
            case VmState.Starting(_, var before) -> {
                context.machines().sweep(vm.id());
                rest(vm, before);
            }
            case VmState.Running running ->
                    find(vm, running)
                            .ifPresent(
                                    how -> {
                                        var life = new VmLife(context, vm);
                                        life.end(how);
                                        add(life);
                                    });
            case VmState.Pausing(_, var running, var generation) -> {
                if (isComplete(vm, generation)) {
                    context.machines().sweep(vm.id());
                    rest(vm, new VmState.Paused(now(), generation));
                } else if (find(vm, running).isPresent()) {
                    settle(
                            vm,
                            new VmState.Stopped(
                                    now(),
                                    Optional.of("the VM ended while its memory was being saved")));
                }
            }
            case VmState.Resting resting -> {
                context.machines().sweep(vm.id());
                rest(vm, resting);
            }
        }
    }

    private void remove(Vm vm) {
        LOG.info("{} was being created when the server ended: removed", vm.id());
        context.machines().delete(vm.id());
        context.forget(vm);
        context.node().releaseUser(vm.hardware().user());
    }

    /// Takes the running machine over.
    ///
    /// @return how it ended, if it has
    private Optional<Exit> find(Vm vm, VmState.Running running) {
        var life = new VmLife(context, vm);
        var run = running.run();
        var found = adopt(vm, running, exit -> life.hear(run, exit));
        files.clearPauses(vm.id(), Optional.empty());
        return switch (found) {
            case Machines.Ended(var how) -> {
                context.machines().sweep(vm.id());
                yield Optional.of(how);
            }
            case Machines.Live machine -> {
                life.adopt(machine);
                life.activity().touch(); // what it was used for meanwhile is unknown
                context.node().keepMemory(vm.id().text(), vm.hardware().resources().memory());
                life.recover(running);
                add(life);
                LOG.info("{} goes on", vm.id());
                yield Optional.empty();
            }
        };
    }

    private Machines.Found adopt(
            Vm vm, VmState.Running running, java.util.function.Consumer<Exit> onExit) {
        try {
            return context.machines().adopt(vm, running.process(), running.run(), onExit);
        } catch (Failure e) {
            LOG.warn("{} cannot be taken over: {}", vm.id(), e.getMessage());
            return new Machines.Ended(Exit.CRASHED);
        }
    }

    private void rest(Vm vm, VmState.Resting state) {
        switch (state) {
            case VmState.Paused(_, var generation) -> {
                files.clearPauses(vm.id(), Optional.of(generation));
                if (isComplete(vm, generation)) {
                    files.clearPaused(vm.id());
                    settle(vm, state);
                } else { // a stop or kill had begun to drop the memory
                    context.machines().dropPause(vm, generation);
                    settle(vm, new VmState.Stopped(now(), Optional.empty()));
                }
            }
            case VmState.Stopped _, VmState.Restarting _ -> {
                files.clearPauses(vm.id(), Optional.empty());
                settle(vm, state);
            }
        }
    }

    private boolean isComplete(Vm vm, UUID generation) {
        var pause = files.pause(vm.id(), generation);
        return Files.exists(pause.resolve(Capture.DISK))
                && Files.exists(pause.resolve(Capture.DESCRIPTION));
    }

    private void settle(Vm vm, VmState.Resting state) {
        var life = new VmLife(context, vm);
        life.recover(state);
        add(life);
    }

    private void add(VmLife life) {
        context.fleet().add(life);
        life.loop().start();
    }

    private java.time.Instant now() {
        return context.clock().instant();
    }
}
