package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Failure;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How one VM that has no machine gets one. On the VM's loop.
final class Starts {
    private static final Logger LOG = LoggerFactory.getLogger(Starts.class);

    private final VmContext context;
    private final VmLife life;
    private final Presence presence;
    private final Growing growing;

    Starts(VmContext context, VmLife life, Presence presence, Growing growing) {
        this.context = context;
        this.life = life;
        this.presence = presence;
        this.growing = growing;
    }

    /// Starts the VM; if that fails it is what it was before.
    void start(VmState.Resting before, Deadline deadline) {
        promise();
        try (var _ = context.node().awaitTurn(deadline)) {
            bringUp(before, deadline);
        } catch (RuntimeException e) {
            context.node().releaseMemory(id());
            throw e;
        }
        settle(deadline);
    }

    /// Starts a VM that failed, or asked for a reboot; if that fails too it waits longer or is given up. While others are starting nothing
    /// is done: the next look tries again.
    void restart(VmState.Restarting before) {
        var turn = context.node().freeTurn();
        if (turn.isEmpty()) {
            return;
        }
        var deadline = Deadline.in(context.limits().start());
        try (var _ = turn.get()) {
            promise();
            bringUp(before, deadline);
        } catch (RuntimeException e) {
            LOG.warn("{} did not start again: {}", id(), e.getMessage());
            presence.fail("it did not start again: " + e.getMessage());
            return;
        }
        settle(deadline);
    }

    private void promise() {
        presence.vm().requireBudget(presence.now());
        context.node().promiseMemory(id(), presence.vm().hardware().resources().memory());
    }

    private void bringUp(VmState.Resting before, Deadline deadline) {
        try {
            presence.become(new VmState.Starting(presence.now(), before));
            var run = UUID.randomUUID();
            presence.run(run, machine(before, run, deadline), context.records()::changeProgress);
        } catch (RuntimeException e) {
            context.machines().sweep(presence.vm().id());
            presence.leaveMachine();
            presence.become(before);
            throw e;
        }
    }

    private Machines.Live machine(VmState.Resting before, UUID run, Deadline deadline) {
        switch (before) {
            case VmState.Paused(_, var generation) -> {
                return context.machines()
                        .resume(
                                presence.vm(),
                                generation,
                                run,
                                exit -> life.hear(run, exit),
                                deadline);
            }
            case VmState.Stopped _, VmState.Restarting _ -> {
                context.fleet().requirePlace(presence.vm());
                presence.bootFresh();
                return context.machines()
                        .boot(presence.vm(), run, exit -> life.hear(run, exit), deadline);
            }
        }
    }

    /// What is left to do when the VM already runs. That it runs is worth more than any of this: a failure is not the start's.
    /// Files that are not needed any more are not waited for.
    private void settle(Deadline deadline) {
        attempt(() -> growing.afterResume(life, deadline));
        var vm = presence.vm().id();
        life.loop()
                .postpone(
                        () ->
                                attempt(
                                        () ->
                                                context.machines()
                                                        .clearPauses(vm, kept(presence.vm()))));
    }

    /// The pause that the VM has entered since, if it was that quick.
    private static Optional<UUID> kept(Vm vm) {
        return vm.state() instanceof VmState.Paused(_, var generation)
                ? Optional.of(generation)
                : Optional.empty();
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (Failure e) {
            LOG.warn("{} runs, but: {}", id(), e.getMessage());
        }
    }

    private String id() {
        return presence.vm().id().text();
    }
}
