package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.ExecOutcome;
import coppice.guest.Guest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/// A program with streams that runs in a VM. One thread writes, one reads each output, one waits for its end. Closing it hangs it up.
///
/// What is written is use of the VM: it wakes one that is paused. To wait is none.
public final class Program implements AutoCloseable {
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration WAKING = Duration.ofSeconds(120);
    private static final Duration LOOK = Duration.ofSeconds(5);
    private static final int HANGUP = 1;
    private static final int KILL = 9;
    private static final byte[] LINE = "\n".getBytes(StandardCharsets.US_ASCII);

    private final StreamRun.Place place;
    private final Hangups hangups;
    private final Runs runs;
    private final Optional<Activity.Hold> hold;
    private final Relay stdout;
    private final Relay stderr;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /// @param holder of the pipes
    /// @param pipes its number in the guest
    record Runs(StreamRun holder, StreamRun main, long pipes) {}

    /// @param hold on its VM, let go of when it ends
    Program(StreamRun.Place place, Hangups hangups, Runs runs, Optional<Activity.Hold> hold) {
        this.place = place;
        this.hangups = hangups;
        this.runs = runs;
        this.hold = hold;
        this.stdout = new Relay(place, PipeScripts.part(runs.pipes, 5), this::touch);
        this.stderr = new Relay(place, PipeScripts.part(runs.pipes, 6), this::touch);
    }

    void awaitStart(Deadline deadline) {
        try {
            if (runs.main.line(deadline).isEmpty()) {
                throw notBegun(deadline);
            }
        } catch (Failure e) {
            close();
            throw e;
        }
        // From here on the pipes end when the program and all that have them from it do.
        var _ = runs.holder.streams().write(LINE, deadline);
    }

    private Failure notBegun(Deadline deadline) {
        var _ = runs.main.await(deadline);
        return new Failure(
                Code.UNAVAILABLE,
                "the guest cannot make pipes for a program: " + runs.main.complaint());
    }

    public Relay stdout() {
        return stdout;
    }

    public Relay stderr() {
        return stderr;
    }

    /// Writes to its stdin, 1 MiB at most; waits until there is room, however long the program does not read. Fails as a wake does.
    public void write(byte[] bytes) {
        touch();
        wake();
        while (!isClosed.get() && !runs.main.streams().write(bytes, Deadline.in(LOOK))) {
            // A program that does not read, and a VM that somebody has paused meanwhile, have their
            // reasons.
        }
    }

    /// Ends its stdin.
    public void endInput() {
        runs.main.streams().endInput();
    }

    /// Sends a signal to it and its children, unless it has ended.
    public void signal(int number) {
        touch();
        var _ =
                place.guests()
                        .awake(
                                place.account(),
                                place.vm().text(),
                                Deadline.in(WAKING),
                                guest ->
                                        guest.killExec(
                                                runs.main.id(), number, Deadline.in(ANSWER)));
    }

    /// How it ended; waits however long that takes, or until this is closed. Its output may go on, from what it has started. Fails with
    /// `UNAVAILABLE` when the VM stops.
    public ExecOutcome await() {
        try {
            return runs.main.await(Deadline.in(StreamRun.LIMIT));
        } finally {
            hold.ifPresent(Activity.Hold::close);
        }
    }

    private void touch() {
        place.guests().activity(place.vm()).ifPresent(Activity::touch);
    }

    /// One that has stopped has lost the program, and is not started for it.
    private void wake() {
        var state = place.guests().get(place.account(), place.vm().text()).state();
        if (!(state instanceof VmState.Running) && !state.hasLostWhatRan()) {
            var _ =
                    place.guests()
                            .awake(
                                    place.account(),
                                    place.vm().text(),
                                    Deadline.in(WAKING),
                                    _ -> true);
        }
    }

    @Override
    public void close() {
        if (!isClosed.compareAndSet(false, true)) {
            return;
        }
        hold.ifPresent(Activity.Hold::close);
        if (runs.main.isOver() && stdout.hasEnded() && stderr.hasEnded()) {
            runs.holder.streams().endInput();
            return;
        }
        stdout.close();
        stderr.close();
        runs.main.abandon();
        runs.holder.abandon();
        hangups.leave(place.account(), place.vm(), this::hangUp);
    }

    private void hangUp(Guest guest) {
        var _ = guest.killExec(runs.main.id(), HANGUP, Deadline.in(ANSWER));
        Stream.of(stdout.ids(), stderr.ids(), List.of(runs.holder.id()))
                .flatMap(List::stream)
                .forEach(id -> guest.killExec(id, KILL, Deadline.in(ANSWER)));
    }
}
