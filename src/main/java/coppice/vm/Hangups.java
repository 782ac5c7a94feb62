package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Ticks;
import coppice.guest.Guest;
import coppice.guest.TerminalDescription;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends what runs in VMs for somebody who has gone: at once where the VM runs, and where it is paused when it runs again. No VM is woken
/// for it. What ends with the run of its VM, or with the VM, is forgotten.
public final class Hangups implements AutoCloseable {
    private static final Duration EVERY = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private static final Duration FINISH = Duration.ofSeconds(5);

    /// How many may wait for their VM to run.
    private static final int MAX = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(Hangups.class);

    private final Guests guests;
    private final BlockingQueue<Left> waiting = new ArrayBlockingQueue<>(MAX);
    private final Set<Thread> atWork = ConcurrentHashMap.newKeySet();
    private final Ticks ticks;

    /// @param end what ends it; it may have ended already
    private record Left(AccountId account, VmId vm, Consumer<Guest> end) {}

    private Hangups(Guests guests) {
        this.guests = guests;
        this.ticks = Ticks.start("hangups", EVERY, this::lookAgain);
    }

    public static Hangups start(Vms vms) {
        return new Hangups(vms);
    }

    /// Ends the session that somebody looked at: what runs in it gets SIGHUP, and SIGKILL half a second later.
    public void hangUp(Viewer viewer) {
        var session = viewer.session();
        viewer.close();
        leave(viewer.account(), viewer.vm(), guest -> close(guest, session));
    }

    private static void close(Guest guest, TerminalDescription session) {
        boolean isThere =
                guest.terminals().list(Deadline.in(ANSWER)).stream()
                        .anyMatch(
                                other ->
                                        other.session() == session.session()
                                                && other.created().equals(session.created()));
        if (isThere) {
            var _ =
                    guest.terminals()
                            .close(session.session(), Optional.empty(), Deadline.in(ANSWER));
        }
    }

    /// Has it ended by a thread of its own.
    void leave(AccountId account, VmId vm, Consumer<Guest> end) {
        var left = new Left(account, vm, end);
        var thread =
                Thread.ofVirtual()
                        .name("hangup-" + vm)
                        .unstarted(
                                () -> {
                                    endOrKeep(left);
                                    atWork.remove(Thread.currentThread());
                                });
        atWork.add(thread);
        thread.start();
    }

    private void endOrKeep(Left left) {
        if (!end(left) && !waiting.offer(left)) {
            LOG.warn("what somebody left in {} goes on: too many wait to be hung up", left.vm());
        }
    }

    private void lookAgain() {
        int count = waiting.size();
        for (int i = 0; i < count; i++) {
            Optional.ofNullable(waiting.poll()).ifPresent(this::endOrKeep);
        }
    }

    /// @return whether there is nothing more to do
    private boolean end(Left left) {
        try {
            var state = guests.get(left.account(), left.vm().text()).state();
            if (state.hasLostWhatRan()) {
                return true;
            }
            if (!(state instanceof VmState.Running)) {
                return false;
            }
            return guests.reach(
                    left.account(),
                    left.vm(),
                    Deadline.in(ANSWER),
                    guest -> {
                        left.end().accept(guest);
                        return true;
                    });
        } catch (Failure e) {
            return e.code() == Code.NOT_FOUND;
        }
    }

    /// Waits for what is being ended. What waits for its VM is left as it is.
    @Override
    public void close() {
        ticks.close();
        var deadline = Deadline.in(FINISH);
        try {
            for (var thread : atWork) {
                var _ = thread.join(deadline.left());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
