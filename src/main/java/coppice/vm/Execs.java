package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecAttempt;
import coppice.guest.ExecOutcome;
import coppice.guest.RunningExec;
import java.time.Duration;

/// Commands in VMs. A command outlives the connection it was started on: when that ends, this goes on with the next one, at the byte
/// where it stopped.
final class Execs {
    /// What a command may take beyond its own time limit: connecting, and output on its way.
    private static final Duration MARGIN = Duration.ofSeconds(30);

    /// A guest that breaks its connections this often is not asked again.
    private static final int MAX_CUTS = 5;

    private static final Duration POLL = Duration.ofMillis(50);

    /// Runs a command in a VM that is up.
    ExecOutcome run(VmLife life, Exec exec) {
        var deadline = Deadline.in(exec.timeLimit().plus(MARGIN));
        var running = RunningExec.of(exec);
        for (int cuts = 0; cuts < MAX_CUTS; cuts++) {
            var machine = awaitRunning(life, deadline);
            try {
                switch (machine.line().guest(deadline).run(running, deadline)) {
                    case ExecAttempt.Ended(var outcome) -> {
                        return outcome;
                    }
                    case ExecAttempt.Lost _ ->
                            throw new Failure(
                                    Code.UNAVAILABLE,
                                    "%s does not know the command any more; how it ended cannot be found out"
                                            .formatted(life.vm().id()));
                    case ExecAttempt.Cut
                                    _ -> {} // paused, or the connection broke: go on with the next
                        // one
                }
            } catch (Failure e) {
                if (!machine.line().isSuspended() || deadline.isPast()) {
                    throw e;
                }
            }
        }
        throw new Failure(
                Code.UNAVAILABLE,
                "the guest agent of %s keeps breaking its connection".formatted(life.vm().id()));
    }

    /// The machine. One that was paused under the command is waited for, not woken: whoever paused it meant it.
    private Machines.Live awaitRunning(VmLife life, Deadline deadline) {
        while (true) {
            var machine = life.live();
            switch (life.vm().state()) {
                case VmState.Running _
                        when machine.isPresent() && machine.get().qemu().isAlive() -> {
                    return machine.get();
                }
                case VmState.Stopped _ ->
                        throw new Failure(
                                Code.UNAVAILABLE,
                                "%s stopped while the command ran".formatted(life.vm().id()));
                case VmState.Running _,
                        VmState.Starting _,
                        VmState.Creating _,
                        VmState.Pausing _,
                        VmState.Paused _ -> {}
            }
            if (deadline.isPast() || life.loop().isGone()) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "%s is %s; the command goes on when it runs"
                                .formatted(life.vm().id(), life.vm().state().word()));
            }
            try {
                Thread.sleep(POLL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for a VM", e);
            }
        }
    }
}
