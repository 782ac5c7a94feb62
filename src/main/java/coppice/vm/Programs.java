package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Undo;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Programs in VMs whose stdin, stdout and stderr are streams of any length: what comes is neither kept nor cut, and who does not take it
/// holds the program back. They go on through pauses of their VM, at the byte where they stopped, and end with its run or with who started
/// them.
///
/// Failures: as [Vms#awake], and `BAD_REQUEST` for a user that does not exist.
public final class Programs {
    private static final Duration WAKING = Duration.ofSeconds(120);

    /// What its helper and its own first lines need.
    private static final int LINES = 1 << 13;

    private final Guests guests;
    private final Hangups hangups;

    public Programs(Vms vms, Hangups hangups) {
        this.guests = vms;
        this.hangups = hangups;
    }

    /// Starts a program, waking the VM first; returns when it runs.
    public Program start(AccountId account, String name, NewProgram wanted) {
        var vm = guests.get(account, name).id();
        var place = new StreamRun.Place(guests, account, vm, wanted.user());
        // Held until it runs: no timer comes between the wake and the program.
        Activity.Hold hold = guests.activity(vm).map(Activity::hold).orElse(() -> {});
        try (var undo = new Undo()) {
            undo.add(hold);
            var program =
                    begin(place, wanted, wanted.isUse() ? Optional.of(hold) : Optional.empty());
            if (wanted.isUse()) {
                undo.keep();
            }
            return program;
        }
    }

    private Program begin(StreamRun.Place place, NewProgram wanted, Optional<Activity.Hold> hold) {
        var deadline = Deadline.in(WAKING);
        var holder = place.start(PipeScripts.HOLDER, Map.of("LC_ALL", "C"), LINES);
        try {
            long pipes = number(holder, deadline);
            var main =
                    place.start(
                            PipeScripts.program(pipes, wanted.script()),
                            wanted.environment(),
                            LINES);
            var program = new Program(place, hangups, new Program.Runs(holder, main, pipes), hold);
            program.awaitStart(deadline);
            return program;
        } catch (RuntimeException e) {
            holder.streams().endInput();
            throw e;
        }
    }

    private static long number(StreamRun holder, Deadline deadline) {
        var said = holder.line(deadline).orElse("");
        if (said.matches("\\d{1,9}")) {
            return Long.parseLong(said);
        }
        holder.streams().endInput();
        var _ = holder.await(deadline); // it fails for the reason for which there is no number
        throw new Failure(
                Code.UNAVAILABLE,
                "the guest cannot make pipes for a program; it needs sh, dd and /proc");
    }
}
