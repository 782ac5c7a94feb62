package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.PlatformThread;
import coppice.process.ProcessId;
import coppice.process.SignalReturn;
import coppice.process.SystemCall;
import coppice.process.Tracee;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// The memory of a guest, frozen at one instant while the guest goes on: a child of its QEMU that shares the guest's memory with it until
/// one side writes, and never runs. Making it takes as long as copying page tables, whatever the guest changed.
///
/// In three steps, of which the guest need be stopped for the second only: [#prepare], [#freeze], [#copy]. Closing it ends the child. If
/// the server dies meanwhile the kernel ends the child, and the QEMU goes on.
public final class Twin implements AutoCloseable {
    private static final long MADV_DONTFORK = 10;
    private static final long MADV_DOFORK = 11;

    /// Smaller areas of QEMU's own are left as they are: to share them costs less than to name them.
    private static final long LARGE = 1 << 20;

    private static final Duration HOLD = Duration.ofSeconds(5);

    private final ProcessId qemu;
    private final long processor;
    private final Map<Path, Size> images;
    private final PlatformThread thread;
    private final SignalReturn wayBack;
    private Optional<Tracee.Frozen> frozen = Optional.empty();

    private Twin(ProcessId qemu, long processor, Map<Path, Size> images) {
        this.qemu = qemu;
        this.processor = processor;
        this.images = images;
        this.wayBack = SignalReturn.of(qemu);
        this.thread = new PlatformThread("twin-" + qemu.pid());
    }

    /// Marks what of the QEMU's memory a child is to have: that of the guest and nothing else that is large, since a QEMU whose own heap
    /// was shared would pay with faults when it goes on. QEMU marks the guest's memory the other way round and never forks: the marks stay.
    ///
    /// @param processor the thread that makes the child: one of those that run the guest's processors, which has nothing to do while the
    ///     guest is stopped
    /// @param images the memory images that the guest runs on, and where the first byte of each stands in the copy
    static Twin prepare(ProcessId qemu, long processor, Map<Path, Size> images, Deadline deadline) {
        var twin = new Twin(qemu, processor, images);
        try {
            twin.thread.run(() -> twin.mark(deadline.atMost(HOLD)));
            return twin;
        } catch (RuntimeException e) {
            twin.close();
            throw e;
        }
    }

    private void mark(Deadline deadline) {
        try {
            var map = MemoryMap.of(qemu.pid());
            try (var tracee = Tracee.hold(qemu, qemu.pid(), wayBack, deadline)) {
                for (var area : map.atLeast(LARGE)) {
                    advise(tracee, area, MADV_DONTFORK);
                }
                for (var image : images.keySet()) {
                    for (var area : map.of(image)) {
                        advise(tracee, area, MADV_DOFORK);
                    }
                }
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the memory of the QEMU cannot be found", e);
        }
    }

    private static void advise(Tracee tracee, MemoryMap.Area area, long advice) {
        tracee.call(SystemCall.MADVISE, area.start(), area.length(), advice);
    }

    /// Begins to freeze the guest's memory as it is now, beside what QEMU is asked for meanwhile. The guest must be stopped, until the
    /// answer is awaited.
    public PlatformThread.Task<Void> freeze(Deadline deadline) {
        return thread.start(
                () -> {
                    var soon = deadline.atMost(HOLD);
                    try (var tracee = Tracee.hold(qemu, processor, wayBack, soon)) {
                        frozen = Optional.of(tracee.fork());
                    }
                    return null;
                });
    }

    /// Writes every page that the guest had changed when it was frozen over `image`, a copy of the image it runs on.
    ///
    /// @return how much was written
    public Size copy(Path image) {
        return thread.call(
                () -> new GuestMemory(frozen.orElseThrow().pid()).copyOwnPages(images, image));
    }

    @Override
    public void close() {
        try {
            thread.run(() -> frozen.ifPresent(Tracee.Frozen::close));
        } finally {
            thread.close(); // lets go of whatever a failed step still holds
        }
    }
}
