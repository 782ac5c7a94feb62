package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LastWordsTest {
    private static final String PANIC =
            """
            [   12.300000] sysrq: Trigger a crash
            [   12.310000] Kernel panic - not syncing: sysrq triggered crash
            [   12.320000] CPU: 0 UID: 0 PID: 99 Comm: sh Not tainted 6.12.0
            [   12.330000] Call Trace:
            """;
    private static final String POWER_OFF = "\r\n[   60.120000] reboot: Power down\r\n";
    private static final String REBOOT = "\r\n[   60.120000] reboot: Restarting system\r\n";

    @Test
    void aResetIsAPanicIfTheKernelSaidSo() {
        assertEquals(Exit.PANIC, LastWords.ofReset("login: " + PANIC));
        assertEquals(Exit.REBOOT, LastWords.ofReset(REBOOT));
        assertEquals(Exit.REBOOT, LastWords.ofReset(""));
    }

    @Test
    void aGuestThatEndedUnseenWasPoweredOffIfTheKernelSaidSo() {
        assertEquals(Exit.POWER_OFF, LastWords.of(POWER_OFF));
        assertEquals(Exit.POWER_OFF, LastWords.of("reboot: System halted"));
        assertEquals(Exit.REBOOT, LastWords.of(REBOOT));
        assertEquals(Exit.PANIC, LastWords.of(PANIC));
    }
}
