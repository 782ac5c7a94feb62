package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.NewTerminal;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalEnd;
import coppice.guest.TerminalName;
import coppice.guest.TerminalStream;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// The terminals of VMs. A session lives in its guest: it outlives viewers, pauses and this server, and ends with the run of the guest.
///
/// Failures: `NOT_FOUND` for a VM or session that the account does not have, `BAD_REQUEST` for a user that does not exist, `CONFLICT`
/// for a slug that is another user's, for too many sessions, and for a VM that cannot be woken; else as [Vms#awake].
public final class Terminals {
    private static final Duration WAKING = Duration.ofSeconds(120);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration LISTING = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(200);

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

    /// Fails with NOT_FOUND if the account has no such VM.
    public void requireVm(AccountId account, String vm) {
        guests.get(account, vm);
    }

    /// Makes a session, or attaches to the one that has the slug. Wakes the VM.
    public Viewer open(AccountId account, String vm, NewTerminal wanted) {
        return view(account, vm, deadline -> guest -> guest.terminals().open(wanted, deadline));
    }

    /// Attaches to a session; of `user`, if one is given. Wakes the VM.
    public Viewer attach(
            AccountId account, String vm, TerminalName session, Optional<String> user) {
        return view(
                account,
                vm,
                deadline ->
                        guest ->
                                guest.terminals()
                                        .attach(session, user, OptionalLong.empty(), deadline));
    }

    private interface Attaching {
        AwakeUse<TerminalStream> by(Deadline deadline);
    }

    private Viewer view(AccountId account, String name, Attaching attaching) {
        var vm = guests.get(account, name).id();
        var deadline = Deadline.in(WAKING);
        var stream =
                guests.awake(
                        account,
                        vm.text(),
                        deadline,
                        guest -> attaching.by(Deadline.in(ANSWER)).with(guest));
        var viewer = new Viewer(guests, account, vm, stream, viewers::remove);
        viewers.add(viewer);
        return viewer;
    }

    /// The sessions, those that have ended included, by their numbers. No VM is woken for it.
    public List<TerminalDescription> list(AccountId account, String vm, Optional<String> user) {
        return sessions(account, vm).stream()
                .filter(session -> isOf(session, user))
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
            AccountId account, String name, TerminalName session, Optional<String> user) {
        var vm = guests.get(account, name).id();
        long number =
                sessions(account, vm.text()).stream()
                        .filter(each -> isNamed(each, session) && isOf(each, user))
                        .map(TerminalDescription::session)
                        .findFirst()
                        .orElseThrow(() -> absent(vm, session));
        return guests.awake(
                account,
                vm.text(),
                Deadline.in(WAKING),
                guest -> Scrollback.of(guest, new TerminalName.Number(number)));
    }

    /// Ends what runs in the session and forgets it; its viewers end. Wakes the VM.
    public Closed close(
            AccountId account, String name, TerminalName session, Optional<String> user) {
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
                                            .filter(each -> isOf(each, user))
                                            .map(TerminalDescription::session)
                                            .findFirst()
                                            .orElseThrow(() -> absent(vm, session));
                            return new Closed(
                                    number, terminals.close(number, user, Deadline.in(ANSWER)));
                        });
        end(
                viewer -> viewer.vm().equals(vm) && viewer.session().session() == closed.session(),
                ViewerEnd.CLOSED);
        return closed;
    }

    /// Ends all viewers of an account, whose right to look is gone.
    public void revoke(AccountId account) {
        end(viewer -> viewer.account().equals(account), ViewerEnd.REVOKED);
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

    static boolean isOf(TerminalDescription session, Optional<String> user) {
        return user.isEmpty() || user.get().equals(session.user());
    }

    private static Failure absent(VmId vm, TerminalName session) {
        return new Failure(
                Code.NOT_FOUND, "%s has no terminal %s; list its terminals".formatted(vm, session));
    }
}
