import java.nio.file.Path;
import java.time.Duration;

/// The VMs that a server keeps ready, as far as they can be seen from outside: as QEMUs on its volume, where there are no others.
///
/// @param size how many there are to be
record Pool(Path volume, int size) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// What a VM that has just been started has yet to do.
    private static final Duration WARMTH = Duration.ofSeconds(3);

    /// Waits until it has had the time to be full.
    void awaitFull() throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (RunningQemu.countUnder(volume) < size && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        Thread.sleep(WARMTH);
    }
}
