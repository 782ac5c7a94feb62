package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecAttempt;
import coppice.guest.ExecOutcome;
import coppice.guest.Guest;
import coppice.guest.RunningExec;
import coppice.guest.StreamedExec;
import java.time.Duration;

/// Commands in VMs. A command outlives the connection it was started on: when that ends, this goes on with the next one, at the byte
/// where it stopped. It also outlives its VM's pauses, and this server: its guest keeps it, and what came of it for ten minutes.
///
/// A VM is woken to start a command, and held awake until the command ends. One that is paused meanwhile is not woken again: whoever
/// paused it meant it.
final class Execs {
    /// What a command may take beyond its own time limit: connecting, and output on its way.
    private static final Duration MARGIN = Duration.ofSeconds(30);

    /// A longer command needs an agent that it can be found again in, when the connection or this server ends meanwhile.
    private static final Duration LONG = Duration.ofMinutes(5);

    /// A guest that breaks its connections this often is not asked again.
    private static final int MAX_CUTS = 5;

    ExecOutcome run(VmLife life, Exec exec) {
        // First held, then woken: no timer comes between the wake and the command.
        try (var _ = life.activity().hold()) {
            life.waker().wake();
            var command = new Command(life, RunningExec.of(exec), exec.timeLimit());
            return command.follow(false, Deadline.in(exec.timeLimit().plus(MARGIN)));
        }
    }

    /// Runs a command whose streams others hold. The VM is woken to start it; who wants it awake meanwhile holds it.
    ExecOutcome run(VmLife life, StreamedExec exec, Duration timeLimit) {
        try {
            var command = new Command(life, exec.running(), timeLimit);
            return command.follow(false, Deadline.in(timeLimit.plus(MARGIN)));
        } finally {
            exec.end();
        }
    }

    /// Goes on with a command that was started before.
    ExecOutcome await(VmLife life, StartedExec started) {
        try (var _ = life.activity().hold()) {
            var exec = RunningExec.attached(started.exec(), started.outputLimit());
            var deadline = Deadline.in(started.timeLimit().plus(MARGIN));
            return new Command(life, exec, Duration.ZERO).follow(true, deadline);
        }
    }

    private record Command(VmLife life, RunningExec exec, Duration timeLimit) {

        /// @param isAsked whether the guest may have it already
        ExecOutcome follow(boolean isAsked, Deadline deadline) {
            boolean isBegun = isAsked;
            int cuts = 0;
            while (cuts < MAX_CUTS) {
                var machine =
                        isBegun ? life.waker().awaitUp(deadline) : life.waker().wake(deadline);
                try {
                    var guest = machine.line().guest(deadline);
                    requireKept(guest);
                    isBegun = true;
                    switch (guest.run(exec, deadline)) {
                        case ExecAttempt.Ended(var outcome) -> {
                            return outcome;
                        }
                        case ExecAttempt.Lost _ -> throw lost();
                        // Paused, which may happen as often as it likes, or the connection broke.
                        case ExecAttempt.Cut _ -> cuts += machine.line().isSuspended() ? 0 : 1;
                    }
                } catch (Failure e) {
                    boolean hasEnded = isBegun && !machine.qemu().isAlive();
                    if (!hasEnded && !machine.line().isSuspended() || deadline.isPast()) {
                        throw e;
                    }
                }
            }
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the guest agent of %s keeps breaking its connection"
                            .formatted(life.vm().id()));
        }

        private void requireKept(Guest guest) {
            if (timeLimit.compareTo(LONG) > 0 && !guest.can("exec.attach")) {
                throw new Failure(
                        Code.AGENT_UNSUPPORTED,
                        "the guest agent of %s is too old for commands of more than %d ms; give a shorter timeoutMs"
                                .formatted(life.vm().id(), LONG.toMillis()));
            }
        }

        private Failure lost() {
            return new Failure(
                    Code.UNAVAILABLE,
                    "%s does not know the command any more; how it ended cannot be found out"
                            .formatted(life.vm().id()));
        }
    }
}
