package coppice.qemu;

import coppice.base.Failure;
import java.io.IOException;

/// Which pages of a private mapping of a file a process has changed: the others are still the file's. A page is the process's own when it
/// is swapped, or present and not of the file (pagemap in the kernel's admin guide).
interface OwnPages extends AutoCloseable {
    /// Is told of a range of the process's own pages.
    interface Found {
        void range(long start, long end) throws IOException;
    }

    /// Tells every range of own pages from `start` to `end`, in ascending order. Both are whole pages.
    void find(long start, long end, Found found) throws IOException;

    @Override
    void close() throws IOException;

    /// By the fastest way that this kernel has.
    static OwnPages of(long pid) throws IOException {
        try {
            return new ScannedPages(pid);
        } catch (Failure e) {
            return new PagemapBits(pid); // Linux < 6.7
        }
    }
}
