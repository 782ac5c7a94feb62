package coppice.qemu;

import static java.nio.file.StandardOpenOption.READ;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/// Own pages by the bits of /proc/PID/pagemap, which has eight bytes for each page. For kernels without PAGEMAP_SCAN.
final class PagemapBits implements OwnPages {
    private static final int PAGE = 4096;
    private static final int PAGES_AT_ONCE = 1 << 16;
    private static final long SWAPPED = 1L << 62;
    private static final long PRESENT = 1L << 63;
    private static final long OF_FILE = 1L << 61;

    private final FileChannel pagemap;
    private final ByteBuffer entries =
            ByteBuffer.allocateDirect(PAGES_AT_ONCE * Long.BYTES).order(ByteOrder.nativeOrder());

    PagemapBits(long pid) throws IOException {
        pagemap = FileChannel.open(Path.of("/proc", Long.toString(pid), "pagemap"), READ);
    }

    @Override
    public void find(long start, long end, Found found) throws IOException {
        for (long at = start; at < end; at += (long) PAGES_AT_ONCE * PAGE) {
            int pages = (int) Math.min(PAGES_AT_ONCE, (end - at) / PAGE);
            read(at, pages);
            for (int first = 0; first < pages; first++) {
                int last = first;
                while (last < pages && isOwn(entries.getLong(last * Long.BYTES))) {
                    last++;
                }
                if (last > first) {
                    found.range(at + (long) first * PAGE, at + (long) last * PAGE);
                    first = last;
                }
            }
        }
    }

    private void read(long at, int pages) throws IOException {
        entries.clear().limit(pages * Long.BYTES);
        while (entries.hasRemaining()) {
            long place = at / PAGE * Long.BYTES + entries.position();
            if (pagemap.read(entries, place) <= 0) {
                throw new IOException("the process is gone");
            }
        }
    }

    private static boolean isOwn(long entry) {
        return (entry & SWAPPED) != 0 || (entry & (PRESENT | OF_FILE)) == PRESENT;
    }

    @Override
    public void close() throws IOException {
        pagemap.close();
    }
}
