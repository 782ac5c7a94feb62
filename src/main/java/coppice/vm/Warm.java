package coppice.vm;

import coppice.base.Deadline;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.qemu.Exit;
import coppice.qemu.Qemu;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/// A machine that was made from a snapshot and belongs to nobody yet: it is itself already, under the id of the VM that it will be, has run
/// commands so that the next one is fast, and is stopped.
final class Warm {
    private static final Duration COMMAND = Duration.ofSeconds(20);

    /// Under emulation the first runs of a program cost its translation; a few runs also bring what it reads into memory.
    private static final int RUNS = 3;

    private final Vm vm;
    private final Qemu qemu;
    private final AtomicReference<Consumer<Exit>> onExit;

    private Warm(Vm vm, Qemu qemu, AtomicReference<Consumer<Exit>> onExit) {
        this.vm = vm;
        this.qemu = qemu;
        this.onExit = onExit;
    }

    /// Makes one.
    ///
    /// @param vm as it would be created
    static Warm make(VmContext context, Vm vm, Path capture, Deadline deadline) {
        var onExit = new AtomicReference<Consumer<Exit>>(_ -> {});
        var live =
                context.machines()
                        .createWarm(vm, capture, exit -> onExit.get().accept(exit), deadline);
        try {
            for (int i = 0; i < RUNS; i++) {
                live.line().guest(deadline).exec(command(), deadline);
            }
            live.line().close();
            live.qemu().freeze(deadline);
            return new Warm(vm, live.qemu(), onExit);
        } catch (RuntimeException e) {
            live.qemu().kill();
            throw e;
        }
    }

    private static Exec command() {
        return new Exec(
                new ExecId(UUID.randomUUID()),
                "true",
                Optional.empty(),
                Map.of(),
                new byte[0],
                COMMAND,
                4096,
                Optional.empty());
    }

    Vm vm() {
        return vm;
    }

    boolean isAlive() {
        return qemu.isAlive();
    }

    /// Lets it go on as the machine of a VM, with randomness and time of its own.
    VmLife.Birth birth(Machines machines) {
        return (as, run, exits, deadline) -> {
            onExit.set(exits);
            return machines.takeWarm(as, qemu, run, deadline);
        };
    }
}
