package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Guest;
import coppice.guest.NewTerminal;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalEnd;
import coppice.guest.TerminalName;
import coppice.guest.TerminalStream;
import coppice.identity.AccountId;
import coppice.identity.LinuxUsers;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The terminals of VMs. A session lives in its guest: it outlives viewers, pauses and this server, and ends with the run of the guest.
///
/// Failures: `NOT_FOUND` for a VM or session that the account does not have, `BAD_REQUEST` for a user that does not exist, `CONFLICT`
/// for a slug that is another user's, for too many sessions, and for a VM that cannot be woken; else as [Vms#awake].
public final class Terminals {
    private static final Duration WAKING = Duration.ofSeconds(120);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration LISTING = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(Terminals.class);

    private final Guests guests;
    private final Set<Viewer> viewers = ConcurrentHashMap.newKeySet();

    /// A session that was closed; how it ended, if it had before.
    public record Closed(long session, Optional<TerminalEnd> end) {}

    public Terminals(Vms vms) {
        this((Guests) vms);
    }

    Terminals(Guests guests) {
        this.guests = guests;
    }

    /// Which VM the account means by a name. Fails with NOT_FOUND if it has no such VM.
    public VmId named(AccountId account, String vm) {
        return guests.get(account, vm).id();
    }

    /// Makes a session, or attaches to the one that has the slug. Wakes the VM.
    ///
    /// @param right when it ends, so does the viewer
    public Viewer open(AccountId account, String vm, NewTerminal wanted, ViewRight right) {
        return view(
                account, vm, right, deadline -> guest -> guest.terminals().open(wanted, deadline));
    }

    /// Attaches to a session of one of these users. Wakes the VM.
    ///
    /// @param right when it ends, so does the viewer
    public Viewer attach(
            AccountId account, String vm, TerminalName session, LinuxUsers users, ViewRight right) {
        return view(
                account, vm, right, deadline -> guest -> attached(guest, session, users, deadline));
    }

    private static TerminalStream attached(
            Guest guest, TerminalName session, LinuxUsers users, Deadline deadline) {
        try {
            var stream =
                    guest.terminals()
                            .attach(session, Optional.empty(), OptionalLong.empty(), deadline);
            if (users.includes(stream.description().user())) {
                return stream;
            }
            stream.close();
        } catch (Failure e) {
            if (e.code() != Code.NOT_FOUND) {
                throw e;
            }
        }
        throw absent(session);
    }

    private interface Attaching {
        AwakeUse<TerminalStream> by(Deadline deadline);
    }

    private Viewer view(AccountId account, String name, ViewRight right, Attaching attaching) {
        var vm = guests.get(account, name).id();
        var deadline = Deadline.in(WAKING);
        var stream =
                guests.awake(
                        account,
                        vm.text(),
                        deadline,
                        guest -> attaching.by(Deadline.in(ANSWER)).with(guest));
        var viewer = new Viewer(guests, account, vm, stream, right, viewers::remove);
        viewers.add(viewer);
        return viewer;
    }

    /// The sessions of these users, those that have ended included, by their numbers. No VM is woken for it.
    public List<TerminalDescription> list(AccountId account, String vm, LinuxUsers users) {
        return sessions(account, vm).stream()
                .filter(session -> users.includes(session.user()))
                .sorted(Comparator.comparingLong(TerminalDescription::session))
                .toList();
    }

    /// What changes its state meanwhile is looked at again.
    private List<TerminalDescription> sessions(AccountId account, String name) {
        var deadline = Deadline.in(LISTING);
        while (true) {
            var vm = guests.get(account, name);
            try {
                return sessions(vm, deadline);
            } catch (Failure e) {
                boolean isBetween = isBetween(vm.state());
                boolean isSame = guests.get(account, name).state().equals(vm.state());
                if (deadline.isPast() || isSame && !isBetween) {
                    throw e;
                }
            }
        }
    }

    private List<TerminalDescription> sessions(Vm vm, Deadline deadline) {
        return switch (vm.state()) {
            case VmState.Stopped _, VmState.Restarting _ -> List.of();
            case VmState.Paused(_, var generation) -> guests.pausedTerminals(vm.id(), generation);
            case VmState.Creating _, VmState.Starting _, VmState.Running _, VmState.Pausing _ -> {
                var round = deadline.atMost(isBetween(vm.state()) ? LOOK : ANSWER);
                yield guests.reach(
                        vm.account(),
                        vm.id(),
                        round,
                        guest -> guest.terminals().list(Deadline.in(ANSWER)));
            }
        };
    }

    private static boolean isBetween(VmState state) {
        return switch (state) {
            case VmState.Creating _, VmState.Starting _, VmState.Pausing _ -> true;
            case VmState.Running _, VmState.Paused _, VmState.Stopped _, VmState.Restarting _ ->
                    false;
        };
    }

    /// What is kept of a session's output, 1 MiB at most, as it is now. Wakes a VM that is paused; one that has stopped has no sessions.
    public byte[] scrollback(
            AccountId account, String name, TerminalName session, LinuxUsers users) {
        var vm = guests.get(account, name).id();
        long number =
                sessions(account, vm.text()).stream()
                        .filter(each -> isNamed(each, session) && users.includes(each.user()))
                        .map(TerminalDescription::session)
                        .findFirst()
                        .orElseThrow(() -> absent(session));
        return guests.awake(
                account,
                vm.text(),
                Deadline.in(WAKING),
                guest -> Scrollback.of(guest, new TerminalName.Number(number)));
    }

    /// Ends what runs in the session and forgets it; its viewers end. Wakes the VM.
    public Closed close(AccountId account, String name, TerminalName session, LinuxUsers users) {
        var vm = guests.get(account, name).id();
        var closed =
                guests.awake(
                        account,
                        vm.text(),
                        Deadline.in(WAKING),
                        guest -> {
                            var terminals = guest.terminals();
                            long number =
                                    terminals.list(Deadline.in(ANSWER)).stream()
                                            .filter(each -> isNamed(each, session))
                                            .filter(each -> users.includes(each.user()))
                                            .map(TerminalDescription::session)
                                            .findFirst()
                                            .orElseThrow(() -> absent(session));
                            return new Closed(
                                    number,
                                    terminals.close(number, Optional.empty(), Deadline.in(ANSWER)));
                        });
        end(
                viewer -> viewer.vm().equals(vm) && viewer.session().session() == closed.session(),
                ViewerEnd.CLOSED);
        return closed;
    }

    /// Ends the viewers whose right to look is gone. One of whom nobody can tell goes on.
    public void reconsider() {
        for (var viewer : viewers) {
            try {
                viewer.reconsider();
            } catch (Failure e) {
                LOG.warn("whether a terminal may still be seen is not known: {}", e.getMessage());
            }
        }
    }

    private void end(Predicate<Viewer> which, ViewerEnd why) {
        viewers.stream().filter(which).forEach(viewer -> viewer.end(why));
    }

    private static boolean isNamed(TerminalDescription session, TerminalName name) {
        return switch (name) {
            case TerminalName.Number(long number) -> session.session() == number;
            case TerminalName.Slug slug -> session.slug().equals(Optional.of(slug));
        };
    }

    private static Failure absent(TerminalName session) {
        return new Failure(
                Code.NOT_FOUND, "the VM has no terminal %s; list its terminals".formatted(session));
    }
}
