package coppice.vm;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/// When a VM was last used, and whether somebody uses it now. From any thread.
///
/// It is kept in memory, and written with the VM's changes of state. A server that starts counts its start as activity of the VMs that
/// run: what happened while it was away is unknown, and a VM that was used then must not be paused for it. The price is that each start
/// of the server gives an unused VM its idle time once more.
public final class Activity {
    private final InstantSource clock;
    private final AtomicReference<Optional<Instant>> last;
    private final AtomicInteger holds = new AtomicInteger();

    /// What a timer looks at.
    ///
    /// @param isHeld whether it is being used, and is not idle however long that takes
    record Seen(Optional<Instant> last, boolean isHeld) {}

    Activity(InstantSource clock, Optional<Instant> last) {
        this.clock = clock;
        this.last = new AtomicReference<>(last);
    }

    /// The VM is being used at this moment.
    public void touch() {
        var now = clock.instant();
        last.accumulateAndGet(
                Optional.of(now),
                (before, touched) -> before.filter(now::isBefore).isPresent() ? before : touched);
    }

    /// The VM is being used until this is closed.
    public Hold hold() {
        holds.incrementAndGet();
        touch();
        var isOpen = new AtomicBoolean(true);
        return () -> {
            if (isOpen.compareAndSet(true, false)) {
                touch(); // before it is let go of: whoever then sees no hold sees this moment
                holds.decrementAndGet();
            }
        };
    }

    /// The last use, absent if there never was one.
    public Optional<Instant> last() {
        return last.get();
    }

    Seen seen() {
        boolean isHeld = holds.get() > 0;
        return new Seen(last.get(), isHeld);
    }

    /// Keeps a VM from being idle.
    public interface Hold extends AutoCloseable {
        @Override
        void close();
    }
}
