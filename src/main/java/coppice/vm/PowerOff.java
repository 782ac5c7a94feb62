package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Failure;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Powers a machine off: the agent is asked to, else the button is pressed, and what does not go by itself is cut.
final class PowerOff {
    private static final Logger LOG = LoggerFactory.getLogger(PowerOff.class);
    private static final Duration AGENT = Duration.ofSeconds(5);

    private PowerOff() {}

    /// @param limit how long the guest has
    static void of(VmId vm, Machines.Live machine, Deadline limit) {
        try {
            machine.line().guest(limit.atMost(AGENT)).shutdown(limit.atMost(AGENT));
        } catch (Failure unreachable) {
            LOG.info("{}: the agent cannot be asked to power off, pressing the button", vm);
            pressPower(vm, machine, limit);
        }
        if (!machine.qemu().hasEnded(limit)) {
            machine.qemu().kill();
        }
    }

    private static void pressPower(VmId vm, Machines.Live machine, Deadline limit) {
        try {
            machine.qemu().pressPower(limit);
        } catch (Failure e) {
            // It ended meanwhile, or is cut when the time is over.
            LOG.debug("{}: no power button", vm, e);
        }
    }
}
