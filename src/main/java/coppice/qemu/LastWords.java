package coppice.qemu;

import java.util.regex.Pattern;

/// How a guest ended, as its console tells. QEMU knows less: our guests' kernels panic into a reset, which looks like any other, and what
/// happened while nobody was connected to the QEMU is told by the console only.
///
/// A guest can write there what it likes, and so choose between being rebooted and being restarted: it could have either anyhow.
final class LastWords {
    private static final Pattern PANIC = Pattern.compile("Kernel panic - not syncing");
    private static final Pattern POWER_OFF = Pattern.compile("reboot: (Power down|System halted)");

    private LastWords() {}

    /// How a guest that was reset ended.
    static Exit ofReset(String console) {
        return PANIC.matcher(console).find() ? Exit.PANIC : Exit.REBOOT;
    }

    /// How a guest ended of which nothing is known but that it did.
    static Exit of(String console) {
        var reset = ofReset(console);
        return reset == Exit.REBOOT && POWER_OFF.matcher(console).find() ? Exit.POWER_OFF : reset;
    }
}
