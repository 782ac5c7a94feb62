package coppice.vm;

import coppice.base.Ticks;
import java.time.Duration;

/// Has the VMs whose time has come paused, restarted or deleted, until it is closed. Whose time has come is for [Due] to say; the VM's own
/// loop looks again before it acts, since the VM may have been used in between.
public final class LifeTimers implements AutoCloseable {
    private final Ticks ticks;

    private LifeTimers(Ticks ticks) {
        this.ticks = ticks;
    }

    /// @param every the contract allows five seconds at most
    public static LifeTimers start(Vms vms, Duration every) {
        return new LifeTimers(Ticks.start("life-timers", every, vms::keepTime));
    }

    @Override
    public void close() {
        ticks.close();
    }
}
