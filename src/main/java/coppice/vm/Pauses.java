package coppice.vm;

import coppice.base.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/// How one VM that runs is paused. On the VM's loop.
final class Pauses {
    private static final Duration ENDING = Duration.ofMillis(500);

    private final VmContext context;
    private final Presence presence;

    Pauses(VmContext context, Presence presence) {
        this.context = context;
        this.presence = presence;
    }

    /// Pauses the VM. If that fails it goes on, or is stopped if it ended meanwhile.
    void pause(VmState.Running running, Deadline deadline) {
        pause(running, () -> true, deadline);
    }

    /// As [#pause], unless the VM has been used since it was seen to be idle.
    ///
    /// Whoever uses it says so first and then looks at its state; this does the reverse. So either they see that it is pausing, and
    /// wait, or this sees that it is used.
    void pauseIdle(VmState.Running running, Activity.Seen idle, Deadline deadline) {
        pause(running, () -> presence.activity().seen().equals(idle), deadline);
    }

    /// @param isWanted asked when others can see that the VM is pausing
    private void pause(VmState.Running running, BooleanSupplier isWanted, Deadline deadline) {
        var machine = presence.live().orElseThrow();
        var generation = UUID.randomUUID();
        try (var _ = context.node().takeRoom(machine.qemu().ownMemory())) {
            presence.become(new VmState.Pausing(presence.now(), running, generation));
            if (!isWanted.getAsBoolean()) {
                presence.become(running);
                return;
            }
            context.machines().pause(presence.vm(), machine, generation, deadline);
        } catch (RuntimeException e) {
            afterFailure(running, machine);
            throw e;
        }
        presence.rest(new VmState.Paused(presence.now(), generation));
        context.machines().clearPaused(presence.vm().id());
    }

    private void afterFailure(VmState.Running running, Machines.Live machine) {
        if (presence.vm().state().equals(running)) {
            return; // it was never begun
        }
        // Its connection breaks a moment before the process is known to have ended.
        if (machine.qemu().hasEnded(Deadline.in(ENDING))) {
            presence.rest(
                    new VmState.Stopped(
                            presence.now(),
                            Optional.of("the VM ended while its memory was being saved")));
        } else {
            presence.become(running);
        }
    }
}
