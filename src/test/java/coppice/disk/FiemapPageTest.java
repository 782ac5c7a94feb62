package coppice.disk;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Size;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class FiemapPageTest {
    private static final int UNWRITTEN = 0x800;
    private static final int DELAYED = 0x6;

    private final MemorySegment page = Arena.ofAuto().allocate(FiemapPage.BYTES, Long.BYTES);
    private int count;

    @Test
    void aFileOfHolesHasNothing() {
        var read = FiemapPage.read(page);
        assertEquals(DiskUse.NONE, read.use());
        assertTrue(read.isLast());
    }

    @Test
    void sharedExtentsAreToldFromOwnOnes() {
        extent(0, 4096, 0);
        extent(8192, 1 << 20, FiemapPage.SHARED);
        extent(5L << 30, 3L << 30, UNWRITTEN);
        extent(9L << 30, 65536, DELAYED);
        extent(10L << 30, 4096, FiemapPage.SHARED | FiemapPage.LAST);

        var read = FiemapPage.read(page);

        assertEquals(
                new DiskUse(new Size((3L << 30) + 65536 + 4096), new Size((1 << 20) + 4096)),
                read.use());
        assertTrue(read.isLast());
    }

    @Test
    void aPageThatIsNotTheLastSaysWhereTheNextBegins() {
        for (int i = 0; i < FiemapPage.EXTENTS; i++) {
            extent(i * 8192L, 4096, i % 2 == 0 ? FiemapPage.SHARED : 0);
        }
        var read = FiemapPage.read(page);
        long half = FiemapPage.EXTENTS / 2 * 4096L;
        assertEquals(new DiskUse(new Size(half), new Size(half)), read.use());
        assertEquals((FiemapPage.EXTENTS - 1) * 8192L + 4096, read.next());
        assertFalse(read.isLast());
    }

    @Test
    void aQuestionSaysFromWhereAndHowMany() {
        page.fill((byte) 0xEE);
        FiemapPage.ask(page, 12345);
        assertEquals(12345, page.get(JAVA_LONG_UNALIGNED, 0));
        assertEquals(-1, page.get(JAVA_LONG_UNALIGNED, 8));
        assertEquals(0, page.get(JAVA_INT_UNALIGNED, 16), "no flags");
        assertEquals(0, page.get(JAVA_INT_UNALIGNED, 20));
        assertEquals(FiemapPage.EXTENTS, page.get(JAVA_INT_UNALIGNED, 24));
    }

    private void extent(long logical, long length, int flags) {
        long at = FiemapPage.HEAD_BYTES + (long) count * FiemapPage.EXTENT_BYTES;
        page.set(JAVA_LONG_UNALIGNED, at, logical);
        page.set(JAVA_LONG_UNALIGNED, at + 16, length);
        page.set(JAVA_INT_UNALIGNED, at + 40, flags);
        page.set(JAVA_INT_UNALIGNED, 20, ++count);
    }
}
