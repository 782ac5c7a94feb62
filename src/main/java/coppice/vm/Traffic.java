package coppice.vm;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/// Says of VMs whose packets pass that they are used. Traffic of no more bytes in ten seconds than a VM's threshold is none. Of one thread.
final class Traffic {
    private static final Duration WINDOW = Duration.ofSeconds(10);

    private final Map<VmId, Window> windows = new HashMap<>();

    /// @param bytes that had passed when it began
    private record Window(Instant begin, long bytes) {}

    /// Looks at what has passed by now.
    ///
    /// @param life of a VM that is there
    void look(
            Map<VmId, Long> passed, Instant now, Function<VmId, java.util.Optional<VmLife>> life) {
        windows.keySet().retainAll(passed.keySet());
        passed.forEach(
                (vm, bytes) -> {
                    var window = windows.computeIfAbsent(vm, _ -> new Window(now, bytes));
                    var found = life.apply(vm);
                    long threshold =
                            found.map(l -> l.vm().settings().activityThreshold()).orElse(0L);
                    boolean isActive = bytes - window.bytes() > threshold;
                    if (isActive) {
                        found.ifPresent(l -> l.activity().touch());
                    }
                    // A port that was made anew counts from zero.
                    if (isActive
                            || bytes < window.bytes()
                            || !now.isBefore(window.begin().plus(WINDOW))) {
                        windows.put(vm, new Window(now, bytes));
                    }
                });
    }
}
