package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Guest;
import coppice.qemu.Link;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// How machines are connected to networks. For one VM, one call at a time.
public interface Wiring {
    /// Of a place where no machine is started.
    Wiring NONE =
            (_) -> {
                throw new Failure(Code.UNAVAILABLE, "there are no networks here");
            };

    /// Makes what a machine's interface is connected to; nothing passes it yet. Absent for a machine that has none.
    Optional<Link> plug(Vm vm);

    /// Tells a guest what its interface is to have, and lets packets pass.
    default void connect(Vm vm, Guest guest, Deadline deadline) {}

    /// As [#connect], for a guest that goes on where it was paused: it is not told again what it knows.
    default void reconnect(Vm vm, Guest guest, Deadline deadline) {
        connect(vm, guest, deadline);
    }

    /// Whether the guest of a VM that runs knows of its network what is not so any more.
    default boolean isOutdated(Vm vm) {
        return false;
    }

    /// Tells it.
    default void retell(Vm vm, Supplier<Guest> guest, Deadline deadline) {}

    /// Lets packets pass although the guest could not be told anything.
    default void open(Vm vm) {}

    /// A machine that was nobody's is this VM's from now on.
    default void handOver(Vm vm, Guest guest, Deadline deadline) {}

    /// A machine that a former server started goes on.
    default void adopt(Vm vm) {}

    /// The machine is gone. Does nothing for a VM without one.
    default void unplug(VmId vm) {}

    /// The VM is gone, and will not come back.
    default void forget(VmId vm) {}

    /// How many bytes each VM that has a machine has sent and received with it.
    default Map<VmId, Long> traffic() {
        return Map.of();
    }

    /// Removes what no VM needs that was adopted, once, when a server starts.
    ///
    /// @return what was removed
    default List<String> sweep() {
        return List.of();
    }
}
