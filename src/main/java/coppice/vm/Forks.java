package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.network.NewNic;
import coppice.qemu.Exit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies VMs. One capture serves all copies of a fork; their machines are started while it is still being made. They are `starting` until
/// the last of them is itself: a fork that fails, or a server that dies before that, leaves none.
final class Forks {
    private static final Logger LOG = LoggerFactory.getLogger(Forks.class);
    private final VmContext context;
    private final Creation creation;

    Forks(VmContext context, Creation creation) {
        this.context = context;
        this.creation = creation;
    }

    Vms.Forked fork(VmLife source, NewFork wanted) {
        var account = source.vm().account();
        creation.quota().requireRunning(account, wanted.count());
        creation.quota().requireVms(account, wanted.count());
        var deadline = Deadline.in(context.limits().start());
        var fork = new Fork(wanted, deadline);
        var capturing = source.loop().submit(() -> source.fork(fork::capture));
        // Goes on when the caller has lost patience: whoever began it must also take it back.
        var ending = new FutureTask<>(() -> fork.awaitAll(capturing));
        Thread.ofVirtual().name("fork-of-" + source.vm().id()).start(ending);
        return new Vms.Forked(source.vm(), fork.await(ending, wanted.patience()));
    }

    /// One fork on its way.
    private final class Fork {
        private final NewFork wanted;
        private final Deadline deadline;
        private final Path stage = context.machines().newStage();
        private final List<VmLife> copies = new ArrayList<>();
        private final List<Future<Vm>> births = new ArrayList<>();
        private final CompletableFuture<Void> captured = new CompletableFuture<>();
        private final Together together;

        Fork(NewFork wanted, Deadline deadline) {
            this.wanted = wanted;
            this.deadline = deadline;
            this.together = new Together(context.records(), wanted.count(), deadline);
        }

        /// On the source's loop: captures it and has its copies begin.
        void capture(Vm source, Optional<Machines.Live> live) {
            if (deadline.isPast()) {
                throw late(null);
            }
            try (var _ = context.node().takeRoom(room(live))) {
                switch (source.state()) {
                    case VmState.Running _ -> captureRunning(source, live.orElseThrow());
                    case VmState.Paused(_, var generation) -> {
                        var pause = context.machines().pauseOf(source.id(), generation);
                        context.machines().capturing().copy(pause, stage);
                        enter(source, source.hardware());
                        begin(this::fromCapture);
                    }
                    case VmState.Stopped _ -> {
                        enter(source, source.hardware().freshlyBooted());
                        copies.forEach(
                                copy -> context.machines().copyStopped(source.id(), copy.vm()));
                        begin(this::fromDisk);
                    }
                    case VmState.Restarting _ ->
                            throw new Failure(
                                    Code.CONFLICT,
                                    "%s is starting; fork it when that is done"
                                            .formatted(source.id()));
                    case VmState.Creating _, VmState.Starting _, VmState.Pausing _ ->
                            throw new IllegalStateException("forked between two states");
                }
            }
        }

        private Size room(Optional<Machines.Live> live) {
            var writes = new Size(Creation.FIRST_WRITES.bytes() * wanted.count());
            return live.map(machine -> machine.qemu().ownMemory().plus(writes)).orElse(writes);
        }

        private void captureRunning(Vm source, Machines.Live live) {
            enter(source, source.hardware());
            var capturing = context.machines().capturing();
            try {
                capturing.begin(source, stage);
                try (var instant = capturing.freeze(source, live, stage, deadline)) {
                    begin(this::fromUnfinished);
                    instant.copyMemory();
                }
                captured.complete(null);
            } catch (RuntimeException e) {
                captured.completeExceptionally(e);
                throw e;
            }
        }

        private void enter(Vm source, Vm.Hardware hardware) {
            for (int i = 0; i < wanted.count(); i++) {
                copies.add(
                        creation.enter(
                                        describe(source, hardware),
                                        new NewNic(Optional.empty(), wanted.rules()),
                                        false)
                                .life());
            }
        }

        private void begin(VmLife.Birth birth) {
            for (var copy : copies) {
                births.add(copy.loop().submit(() -> copy.create(told(birth), together, deadline)));
            }
        }

        /// A birth whose failure the others hear of.
        private VmLife.Birth told(VmLife.Birth birth) {
            return (vm, run, onExit, until) -> {
                try {
                    return bear(birth, vm, run, onExit, until);
                } catch (RuntimeException e) {
                    together.fail(e);
                    throw e;
                }
            };
        }

        private Machines.Live bear(
                VmLife.Birth birth, Vm vm, UUID run, Consumer<Exit> onExit, Deadline until) {
            try (var _ = context.node().awaitTurn(until)) {
                return birth.bear(vm, run, onExit, until);
            }
        }

        private Machines.Live fromCapture(Vm vm, UUID run, Consumer<Exit> onExit, Deadline until) {
            return context.machines().create(vm, stage, run, onExit, until);
        }

        private Machines.Live fromUnfinished(
                Vm vm, UUID run, Consumer<Exit> onExit, Deadline until) {
            return context.machines().create(vm, stage, () -> await(captured), run, onExit, until);
        }

        private Machines.Live fromDisk(Vm vm, UUID run, Consumer<Exit> onExit, Deadline until) {
            return context.machines().bootCopy(vm, run, onExit, until);
        }

        private Vm describe(Vm source, Vm.Hardware hardware) {
            var now = context.clock().instant();
            return new Vm(
                    VmId.random(),
                    source.account(),
                    new VmState.Creating(now),
                    wanted.settings().apply(source.settings().ofCopy()),
                    hardware.forUser(context.node().takeUser()),
                    new Vm.Origin(
                            source.origin().snapshot(),
                            source.origin().snapshotSlug(),
                            Placement.ANYWHERE),
                    wanted.legacy().apply(source.legacy()),
                    Duration.ZERO,
                    now,
                    now);
        }

        /// Waits until all are there, or none is.
        List<Vm> awaitAll(Future<Vm> capturing) {
            try {
                await(capturing);
                return births.stream().map(this::await).toList();
            } catch (RuntimeException e) {
                takeBack(e);
                throw e;
            } finally {
                removeStage();
            }
        }

        private static Failure late(Exception why) {
            return new Failure(
                    Code.VM_START_TIMEOUT,
                    "the copies did not get ready in time; list the VMs to see what there is",
                    why);
        }

        private <T> T await(Future<T> future) {
            return await(future, Optional.empty());
        }

        <T> T await(Future<T> future, Optional<Duration> patience) {
            var left = patience.map(deadline::atMost).orElse(deadline).left();
            try {
                return future.get(left.toNanos(), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                switch (e.getCause()) {
                    case RuntimeException cause -> throw cause;
                    case Throwable cause -> throw new IllegalStateException(cause);
                }
            } catch (TimeoutException e) {
                throw late(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Failure(Code.UNAVAILABLE, "interrupted while copying a VM", e);
            }
        }

        /// Removes the copies that there are.
        void takeBack(RuntimeException why) {
            for (var copy : copies) {
                try {
                    copy.cutFor(copy::delete, Deadline.in(context.limits().pause()));
                } catch (RuntimeException e) {
                    if (!copy.loop().isGone()) {
                        why.addSuppressed(e);
                    }
                }
            }
        }

        /// What is left of it is no VM's and goes with the next start of the server; the copies do not need it.
        private void removeStage() {
            try {
                Published.delete(stage);
                Published.delete(Published.unfinished(stage));
            } catch (Failure e) {
                LOG.warn("{}; the next start of the server tries again", e.getMessage());
            }
        }
    }
}
