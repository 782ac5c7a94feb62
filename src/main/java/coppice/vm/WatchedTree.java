package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.FileEvent;
import coppice.guest.FileWatch;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/// A tree of files in a VM of which somebody is told what happens there. One thread asks; any may close it.
///
/// To begin it was use of the VM. To go on is none: it neither wakes the VM nor holds it awake, as an open terminal does not, so a VM that
/// is only watched is paused when it is idle. It belongs to one run of its VM and ends with that.
public final class WatchedTree implements AutoCloseable {
    /// How long a guest that runs may be out of reach.
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration ANSWER = Duration.ofSeconds(2);
    private static final Duration POLL = Duration.ofMillis(50);

    private final Guests guests;
    private final Vm vm;
    private final UUID run;
    private final Place place;
    private final FileWatch watch;
    private Optional<Lost> lost = Optional.empty();
    private volatile boolean isClosed;

    /// The directory that is watched, as callers call it and as its guest does.
    record Place(GuestPath path) {
        /// With this at its end, a link is followed to the directory that it points to.
        String inGuest() {
            return path.text() + "/.";
        }

        FileEvent named(FileEvent event) {
            var inside = inGuest() + "/";
            if (!event.path().startsWith(inside)) {
                return event;
            }
            var rest = event.path().substring(inside.length());
            return new FileEvent(event.kind(), path.text().replaceAll("/+$", "") + "/" + rest);
        }
    }

    /// The guest tells nothing any more, and may be waited for so long.
    private record Lost(Failure why, Deadline patience) {}

    /// @param run the life of the VM in which the watch began
    WatchedTree(Guests guests, Vm vm, UUID run, Place place, FileWatch watch) {
        this.guests = guests;
        this.vm = vm;
        this.run = run;
        this.place = place;
        this.watch = watch;
    }

    /// Waits for what happens next. Fails with `FILE_NOT_FOUND` when the tree itself is gone, with `PAYLOAD_TOO_LARGE` when more happened
    /// than was asked for or the tree has become too large, with `UNAVAILABLE` when the connection to a guest that goes on was lost:
    /// what happened meanwhile is not known, so the tree must be looked at and watched again.
    public TreeNews next(Duration wait) {
        var deadline = Deadline.in(wait);
        if (lost.isEmpty()) {
            try {
                var event = watch.next(wait);
                if (event.isPresent()) {
                    return new TreeNews.Happened(place.named(event.get()));
                }
            } catch (Failure e) {
                if (e.code() != Code.UNAVAILABLE && !isOver()) {
                    throw e;
                }
                lost = Optional.of(new Lost(e, Deadline.in(PATIENCE)));
            }
        }
        lost.ifPresent(how -> awaitEnd(how, deadline));
        return isOver() ? new TreeNews.Ended() : new TreeNews.Nothing();
    }

    /// Mostly the connection ends because the run does, which can be seen a little later; of a guest that powers itself off, much later.
    private void awaitEnd(Lost how, Deadline deadline) {
        while (!isOver()) {
            if ((how.patience().isPast() || isBack()) && !isOver()) {
                throw how.why();
            }
            if (deadline.isPast()) {
                return;
            }
            rest();
        }
    }

    private boolean isBack() {
        try {
            var deadline = Deadline.in(ANSWER);
            guests.reach(vm.account(), vm.id(), deadline, guest -> guest.ping(deadline));
            return true;
        } catch (Failure e) {
            return false; // or gone for good: that is looked at next
        }
    }

    private boolean isOver() {
        try {
            return isClosed
                    || !(guests.get(vm.account(), vm.id().text()).state()
                                    instanceof VmState.Running(_, var now, _)
                            && now.equals(run));
        } catch (Failure e) {
            if (e.code() != Code.NOT_FOUND) {
                throw e;
            }
            return true;
        }
    }

    private static void rest() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while watching files of a VM", e);
        }
    }

    /// Ends the watch in the guest. Does not wait.
    @Override
    public void close() {
        isClosed = true;
        watch.close();
    }
}
