package coppice.qemu;

/// Why a QEMU ended, as far as it told.
public enum Exit {
    /// The guest powered itself off.
    POWER_OFF,
    /// The guest asked for a reboot.
    REBOOT,
    /// The guest's kernel panicked.
    PANIC,
    /// The server told it to.
    ASKED,
    /// It ended without a word, or by a signal that was not the server's: crashed, or killed.
    CRASHED
}
