package coppice.disk;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import coppice.base.Size;
import java.lang.foreign.MemorySegment;

/// Some of a file's extents, as ioctl FS_IOC_FIEMAP tells them (`struct fiemap` of linux/fiemap.h).
///
/// @param next where in the file the next page begins
/// @param isLast whether there is nothing more
record FiemapPage(DiskUse use, long next, boolean isLast) {
    /// How many extents one page takes.
    static final int EXTENTS = 512;

    static final int HEAD_BYTES = 32;
    static final int EXTENT_BYTES = 56;
    static final long BYTES = HEAD_BYTES + (long) EXTENTS * EXTENT_BYTES;

    static final int LAST = 0x1;
    static final int SHARED = 0x2000;

    private static final long TO_THE_END = -1;
    private static final int MAPPED_AT = 20;
    private static final int LENGTH_AT = 16;
    private static final int FLAGS_AT = 40;

    /// Asks for the extents from `start` on.
    static void ask(MemorySegment page, long start) {
        page.asSlice(0, HEAD_BYTES).fill((byte) 0);
        page.set(JAVA_LONG_UNALIGNED, 0, start);
        page.set(JAVA_LONG_UNALIGNED, 8, TO_THE_END);
        page.set(JAVA_INT_UNALIGNED, 24, EXTENTS);
    }

    static FiemapPage read(MemorySegment page) {
        int count = page.get(JAVA_INT_UNALIGNED, MAPPED_AT);
        long own = 0;
        long shared = 0;
        long next = 0;
        boolean isLast = count == 0;
        for (int i = 0; i < count; i++) {
            long at = HEAD_BYTES + (long) i * EXTENT_BYTES;
            long length = page.get(JAVA_LONG_UNALIGNED, at + LENGTH_AT);
            int flags = page.get(JAVA_INT_UNALIGNED, at + FLAGS_AT);
            if ((flags & SHARED) != 0) {
                shared += length;
            } else {
                own += length;
            }
            next = page.get(JAVA_LONG_UNALIGNED, at) + length;
            isLast |= (flags & LAST) != 0;
        }
        return new FiemapPage(new DiskUse(new Size(own), new Size(shared)), next, isLast);
    }
}
