package coppice.qemu;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.process.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Own pages by the ioctl PAGEMAP_SCAN (Linux 6.7; struct pm_scan_arg in linux/fs.h), which passes over memory that was never touched
/// without a look at each page. Made, used and closed by one platform thread.
final class ScannedPages implements OwnPages {
    private static final long PAGEMAP_SCAN = 0xc0606610L;
    private static final long O_RDONLY_CLOEXEC = 02000000;
    private static final long OF_FILE = 1 << 2;
    private static final long PRESENT = 1 << 3;
    private static final long SWAPPED = 1 << 4;

    private static final int REGIONS = 4096;
    private static final long REGION = 24;

    private static final long ARGUMENT = 96;
    private static final long START = 16;
    private static final long END = 24;
    private static final long REGIONS_AT = 40;
    private static final long REGIONS_LENGTH = 48;
    private static final long INVERTED = 64;
    private static final long ALL_OF = 72;
    private static final long ANY_OF = 80;
    private static final long RETURNED = 88;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(ARGUMENT, 8);
    private final MemorySegment regions = arena.allocate(REGION * REGIONS, 8);
    private final long pagemap;

    /// Fails where the kernel does not know the ioctl.
    ScannedPages(long pid) {
        var name = arena.allocateFrom("/proc/%d/pagemap".formatted(pid));
        pagemap = SystemCall.OPEN.call(name.address(), O_RDONLY_CLOEXEC, 0, 0);
        argument.set(JAVA_LONG, 0, ARGUMENT);
        argument.set(JAVA_LONG, REGIONS_AT, regions.address());
        argument.set(JAVA_LONG, REGIONS_LENGTH, REGIONS);
        argument.set(JAVA_LONG, INVERTED, OF_FILE);
        argument.set(JAVA_LONG, ALL_OF, OF_FILE); // inverted: none of them
        argument.set(JAVA_LONG, ANY_OF, PRESENT | SWAPPED);
        argument.set(JAVA_LONG, RETURNED, PRESENT | SWAPPED);
        long result = pagemap < 0 ? pagemap : scan(0, 0);
        if (result < 0) {
            close();
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the pages of process %d cannot be scanned: %s"
                            .formatted(pid, SystemCall.message(result)));
        }
    }

    private long scan(long start, long end) {
        argument.set(JAVA_LONG, START, start);
        argument.set(JAVA_LONG, END, end);
        return SystemCall.IOCTL.call(pagemap, PAGEMAP_SCAN, argument.address(), 0);
    }

    @Override
    public void find(long start, long end, Found found) throws IOException {
        for (long at = start; at < end; ) {
            long filled = scan(at, end);
            if (filled < 0) {
                throw new IOException("the pages cannot be scanned: " + SystemCall.message(filled));
            }
            for (int i = 0; i < filled; i++) {
                at = regions.get(JAVA_LONG, i * REGION + Long.BYTES);
                found.range(regions.get(JAVA_LONG, i * REGION), at);
            }
            // Not by walk_end: with room for more than 512 regions Linux 6.18 tells an earlier
            // place than it came to.
            if (filled < REGIONS) {
                return;
            }
        }
    }

    @Override
    public void close() {
        if (pagemap >= 0) {
            SystemCall.CLOSE.call(pagemap, 0, 0, 0);
        }
        arena.close();
    }
}
