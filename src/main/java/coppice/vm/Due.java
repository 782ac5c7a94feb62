package coppice.vm;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// What time has come for with a VM.
enum Due {
    NOTHING,
    /// A pause, unless it is used at that very moment.
    IDLE_PAUSE,
    /// A pause, however busy it is.
    PAUSE,
    /// The wait before an automatic restart is over.
    RESTART,
    /// Whatever else there is time for.
    DELETE;

    static Due of(Vm vm, Activity.Seen activity, Instant now) {
        if (isToBeDeleted(vm, now)) {
            return DELETE;
        }
        return switch (vm.state()) {
            case VmState.Running running -> ofRunning(vm, running, activity, now);
            case VmState.Restarting(_, var due, _) -> now.isBefore(due) ? NOTHING : RESTART;
            case VmState.Creating _,
                    VmState.Starting _,
                    VmState.Pausing _,
                    VmState.Paused _,
                    VmState.Stopped _ ->
                    NOTHING;
        };
    }

    private static Due ofRunning(
            Vm vm, VmState.Running running, Activity.Seen activity, Instant now) {
        if (isOver(running.since(), vm.settings().timers().maxRun(), now) || !vm.hasBudget(now)) {
            return PAUSE;
        }
        return isIdle(vm, running, activity, now) ? IDLE_PAUSE : NOTHING;
    }

    /// A persistent VM is deleted by its owner only, whatever timers it took over from the one that it is a copy of.
    private static boolean isToBeDeleted(Vm vm, Instant now) {
        if (vm.legacy().persistence() instanceof Persistence.Persistent) {
            return false;
        }
        var timers = vm.settings().timers();
        return isOver(vm.createdAt(), timers.ttl(), now)
                || isAtRest(vm) && isOver(vm.state().since(), timers.autoDelete(), now);
    }

    /// One that waits for its restart is starting, and one that goes when it stops may be paused.
    private static boolean isAtRest(Vm vm) {
        return switch (vm.state()) {
            case VmState.Stopped _ -> true;
            case VmState.Paused _ ->
                    !vm.legacy()
                            .persistence()
                            .equals(new Persistence.Ephemeral(Persistence.Event.STOP));
            case VmState.Creating _,
                    VmState.Starting _,
                    VmState.Running _,
                    VmState.Pausing _,
                    VmState.Restarting _ ->
                    false;
        };
    }

    private static boolean isIdle(
            Vm vm, VmState.Running running, Activity.Seen activity, Instant now) {
        var since = activity.last().filter(running.since()::isBefore).orElse(running.since());
        return !activity.isHeld() && isOver(since, vm.settings().timers().idle(), now);
    }

    private static boolean isOver(Instant since, Optional<Duration> limit, Instant now) {
        return limit.isPresent() && !now.isBefore(since.plus(limit.get()));
    }
}
