package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Guest;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalName;
import coppice.guest.TerminalOutput;
import coppice.guest.TerminalStream;
import coppice.identity.AccountId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Somebody who looks at a terminal and types into it. When the connection to the guest ends, by a pause or for another reason, it
/// attaches again at the byte where it stopped: what is seen has no gap and no repeat.
///
/// What is typed is use of the VM: it wakes a VM that is paused, and waits until the viewer is attached again. To look is no use, and wakes
/// nothing. One thread follows, one other types. Closing it detaches; the session goes on.
public final class Viewer implements AutoCloseable {
    /// How long is waited for output before the state of things is looked at.
    private static final Duration LOOK = Duration.ofSeconds(30);

    private static final Duration ANSWER = Duration.ofSeconds(10);

    /// How long a program may leave typed bytes unread before they are refused.
    private static final Duration TYPING = Duration.ofSeconds(5);

    /// How long a VM may take that is woken by what is typed.
    private static final Duration WAKING = Duration.ofSeconds(120);

    private static final Duration RETRY = Duration.ofMillis(250);

    /// How long a guest that runs may be out of reach.
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Logger LOG = LoggerFactory.getLogger(Viewer.class);

    private final Guests guests;
    private final AccountId account;
    private final VmId vm;
    private final boolean isFresh;
    private final Attachment attachment;
    private final ViewRight right;
    private final Consumer<Viewer> whenOver;
    private volatile Optional<Sides> wanted = Optional.empty();

    private record Sides(int columns, int rows) {}

    /// @param whenOver told once or more that this has ended; must not wait
    Viewer(
            Guests guests,
            AccountId account,
            VmId vm,
            TerminalStream stream,
            ViewRight right,
            Consumer<Viewer> whenOver) {
        this.guests = guests;
        this.account = account;
        this.vm = vm;
        this.isFresh = stream.fresh();
        this.attachment = new Attachment(stream);
        this.right = right;
        this.whenOver = whenOver;
    }

    /// The session as it was when this began to look.
    public TerminalDescription session() {
        return attachment.session();
    }

    /// Whether the session was made for this viewer.
    public boolean isFresh() {
        return isFresh;
    }

    VmId vm() {
        return vm;
    }

    AccountId account() {
        return account;
    }

    /// Ends it when whoever looks may do so no longer.
    void reconsider() {
        if (!right.allows(session().user())) {
            end(ViewerEnd.REVOKED);
        }
    }

    public boolean isOver() {
        return attachment.end().isPresent();
    }

    /// Ends it: who follows is told why. Nothing happens if it has ended.
    public void end(ViewerEnd why) {
        attachment.end(why);
        whenOver.accept(this);
    }

    @Override
    public void close() {
        end(ViewerEnd.DETACHED);
    }

    /// Tells what is kept of the session's output, then what comes, until the viewer has ended. Once the program has ended too there is
    /// nothing to tell any more, and this waits for the end.
    public ViewerEnd follow(TerminalWatch watch) {
        try (this) {
            while (!isOver()) {
                var stream = attachment.stream();
                switch (read(stream)) {
                    case TerminalOutput.Bytes(var bytes) -> watch.output(bytes);
                    case TerminalOutput.Nothing _ -> {}
                    case TerminalOutput.Ended(var how) -> {
                        attachment.exited();
                        watch.exited(how);
                        awaitEnd();
                    }
                    case TerminalOutput.TooSlow _ -> end(ViewerEnd.TOO_SLOW);
                    case TerminalOutput.Closed _ -> end(ViewerEnd.CLOSED);
                    case TerminalOutput.Cut _ -> attachAgain(stream);
                }
            }
            return attachment.end().orElseThrow();
        }
    }

    private static TerminalOutput read(TerminalStream stream) {
        try {
            return stream.read(Deadline.in(LOOK));
        } catch (Failure e) {
            return new TerminalOutput.Cut(e);
        }
    }

    /// The session has ended and says nothing any more; that its VM stops must still be noticed.
    private void awaitEnd() {
        while (!isOver()) {
            if (state().hasLostWhatRan()) {
                end(ViewerEnd.STOPPED);
            }
            attachment.rest(Duration.ofSeconds(1));
        }
    }

    private void attachAgain(TerminalStream cut) {
        attachment.rest(attachment.cut());
        var patience = Deadline.in(PATIENCE);
        while (!isOver()) {
            try {
                adopt(attached(cut.offset()), cut.offset());
                return;
            } catch (Failure e) {
                if (e.code() == Code.NOT_FOUND || state().hasLostWhatRan()) {
                    end(ViewerEnd.STOPPED);
                } else if (!isRunning()) {
                    patience = Deadline.in(PATIENCE);
                } else if (patience.isPast()) {
                    end(ViewerEnd.LOST);
                } else {
                    attachment.rest(RETRY);
                }
            }
        }
    }

    private TerminalStream attached(long offset) {
        return guests.reach(
                account,
                vm,
                Deadline.in(ANSWER),
                guest ->
                        guest.terminals()
                                .attach(
                                        new TerminalName.Number(session().session()),
                                        Optional.empty(),
                                        OptionalLong.of(offset),
                                        Deadline.in(ANSWER)));
    }

    private void adopt(TerminalStream next, long offset) {
        if (!next.description().created().equals(session().created())) {
            next.close(); // the VM was started anew, and counts its sessions from 1 again
            end(ViewerEnd.STOPPED);
        } else if (next.offset() != offset) {
            next.close();
            end(ViewerEnd.TOO_SLOW);
        } else {
            attachment.attach(next);
            resizeAsWanted();
        }
    }

    /// Puts what is typed on its way, or fails: with RATE_LIMITED if the program reads nothing, and as a wake does. An ended program is
    /// told nothing.
    public void type(byte[] bytes) {
        var stream = Optional.of(attachment.stream());
        var deadline = Deadline.in(WAKING);
        while (stream.isPresent() && !attachment.hasExited()) {
            guests.activity(vm).ifPresent(Activity::touch);
            try {
                stream.get().type(bytes, Deadline.in(TYPING));
                return;
            } catch (Failure e) {
                if (e.code() != Code.UNAVAILABLE || deadline.isPast()) {
                    throw e;
                }
                var cut = stream.get();
                stream = awake(deadline, _ -> attachment.after(cut, deadline));
            }
        }
    }

    /// Keeps the program waiting for a watch that takes no output now; see [TerminalStream#nudge].
    public void nudge() {
        try {
            attachment.stream().nudge();
        } catch (Failure e) {
            LOG.debug(
                    "a terminal is not held back: it is not attached",
                    e); // it is, once it is read again
        }
    }

    /// Sends 2 (SIGINT) to the program in the foreground, or 9 (SIGKILL) to all programs of the session.
    public void signal(int number) {
        if (attachment.hasExited()) {
            return;
        }
        var deadline = Deadline.in(WAKING);
        awake(
                deadline,
                guest -> {
                    var stream = attachment.attached(deadline);
                    stream.ifPresent(_ -> signal(guest, number));
                    return stream;
                });
    }

    private void signal(Guest guest, int number) {
        guest.terminals()
                .signal(session().session(), Optional.empty(), number, Deadline.in(ANSWER));
    }

    /// Sets the size, the last one among viewers wins. That of a VM that does not run is set when this is attached again.
    public void resize(int columns, int rows) {
        wanted = Optional.of(new Sides(columns, rows));
        if (isRunning()) {
            resizeAsWanted();
        }
    }

    private void resizeAsWanted() {
        wanted.ifPresent(
                sides ->
                        guests.reach(
                                account,
                                vm,
                                Deadline.in(ANSWER),
                                guest -> {
                                    guest.terminals()
                                            .resize(
                                                    session().session(),
                                                    Optional.empty(),
                                                    sides.columns(),
                                                    sides.rows(),
                                                    Deadline.in(ANSWER));
                                    wanted = Optional.empty();
                                    return sides;
                                }));
    }

    /// A VM that has stopped has lost the session: it is not started for it.
    private <T> Optional<T> awake(Deadline deadline, AwakeUse<Optional<T>> use) {
        return isOver() || state().hasLostWhatRan()
                ? Optional.empty()
                : guests.awake(account, vm.text(), deadline, use);
    }

    private boolean isRunning() {
        return state() instanceof VmState.Running;
    }

    /// One that is gone is as one that has stopped.
    private VmState state() {
        try {
            return guests.get(account, vm.text()).state();
        } catch (Failure e) {
            return new VmState.Stopped(Instant.EPOCH, Optional.of(e.getMessage()));
        }
    }
}
