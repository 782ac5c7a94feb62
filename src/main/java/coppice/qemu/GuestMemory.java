package coppice.qemu;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Undo;
import coppice.process.ProcessId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Copies the pages that a stopped QEMU changed in its private mappings of memory images: O(changed pages), whatever the guest's size.
///
/// A page is the guest's own when /proc/PID/pagemap says that it is swapped (bit 62), or present (63) and not of the file (61)
/// (pagemap in the kernel's admin guide). All others are still what the image has.
final class GuestMemory {
    private static final int PAGE = 4096;
    private static final int PAGES_AT_ONCE = 1 << 16;
    private static final int COPY_BYTES = 1 << 20;
    private static final long SWAPPED = 1L << 62;
    private static final long PRESENT = 1L << 63;
    private static final long OF_FILE = 1L << 61;

    private final ProcessId process;

    /// One private writable mapping of a file.
    private record Mapping(long start, long end, long fileOffset) {}

    GuestMemory(ProcessId process) {
        this.process = process;
    }

    /// Writes the process's own pages over `image`.
    ///
    /// @param sources the mapped files, and where the first byte of each stands in `image`
    /// @return how much was written
    Size copyOwnPages(Map<Path, Size> sources, Path image) {
        try (var copying = new Copying(proc(), image)) {
            long written = 0;
            for (var source : sources.entrySet()) {
                var mappings = mappings(source.getKey());
                if (mappings.isEmpty()) {
                    throw new Failure(
                            Code.UNAVAILABLE,
                            "the QEMU does not map its memory image " + source.getKey());
                }
                for (var mapping : mappings) {
                    written += copying.copy(mapping, source.getValue().bytes());
                }
            }
            return new Size(written);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "guest memory could not be copied: " + e.getMessage(), e);
        }
    }

    private Path proc() {
        return Path.of("/proc", Long.toString(process.pid()));
    }

    private List<Mapping> mappings(Path source) throws IOException {
        long inode = (long) Files.getAttribute(source, "unix:ino");
        var found = new ArrayList<Mapping>();
        for (var line : Files.readAllLines(proc().resolve("maps"), StandardCharsets.ISO_8859_1)) {
            var fields = line.split(" +", 6);
            if (!fields[1].startsWith("rw")
                    || !fields[1].endsWith("p")
                    || Long.parseLong(fields[4]) != inode) {
                continue;
            }
            var range = fields[0].split("-");
            long start = Long.parseUnsignedLong(range[0], 16);
            long end = Long.parseUnsignedLong(range[1], 16);
            // A file on another file system may have the same inode number, and Btrfs shows
            // another device here than stat does: only the mapped file itself is sure.
            var mapped = proc().resolve("map_files").resolve("%x-%x".formatted(start, end));
            if (Files.isSameFile(mapped, source)) {
                found.add(new Mapping(start, end, Long.parseUnsignedLong(fields[2], 16)));
            }
        }
        return found;
    }

    private static boolean isOwn(long entry) {
        return (entry & SWAPPED) != 0 || (entry & (PRESENT | OF_FILE)) == PRESENT;
    }

    /// The open files of one copy, and its buffers: made once, since there may be thousands of mappings.
    private static final class Copying implements AutoCloseable {
        private final FileChannel pagemap;
        private final FileChannel memory;
        private final FileChannel out;
        private final ByteBuffer entries =
                ByteBuffer.allocateDirect(PAGES_AT_ONCE * Long.BYTES)
                        .order(ByteOrder.nativeOrder());
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(COPY_BYTES);

        Copying(Path proc, Path image) throws IOException {
            try (var undo = new Undo()) {
                pagemap = undo.add(FileChannel.open(proc.resolve("pagemap"), READ));
                memory = undo.add(FileChannel.open(proc.resolve("mem"), READ));
                out = undo.add(FileChannel.open(image, WRITE));
                undo.keep();
            }
        }

        /// @param base where the first byte of the mapped file stands in the image
        long copy(Mapping mapping, long base) throws IOException {
            long toImage = base + mapping.fileOffset() - mapping.start();
            long written = 0;
            for (long at = mapping.start(); at < mapping.end(); at += (long) PAGES_AT_ONCE * PAGE) {
                int pages = (int) Math.min(PAGES_AT_ONCE, (mapping.end() - at) / PAGE);
                entries.clear().limit(pages * Long.BYTES);
                readFully(pagemap, entries, at / PAGE * Long.BYTES);
                for (int first = 0; first < pages; first++) {
                    int run = ownPages(first, pages);
                    if (run > 0) {
                        long address = at + (long) first * PAGE;
                        bytes.clear().limit(run * PAGE);
                        readFully(memory, bytes, address);
                        writeFully(out, bytes.flip(), toImage + address);
                        written += (long) run * PAGE;
                        first += run - 1;
                    }
                }
            }
            return written;
        }

        /// How many pages from `first` on are the process's own, at most as many as are copied at once.
        private int ownPages(int first, int pages) {
            int most = Math.min(pages, first + COPY_BYTES / PAGE);
            int end = first;
            while (end < most && isOwn(entries.getLong(end * Long.BYTES))) {
                end++;
            }
            return end - first;
        }

        @Override
        public void close() throws IOException {
            try (pagemap;
                    memory;
                    out) {
                // all of them, whatever one of them throws
            }
        }
    }

    private static void readFully(FileChannel from, ByteBuffer into, long position)
            throws IOException {
        long at = position;
        while (into.hasRemaining()) {
            int n = from.read(into, at);
            if (n <= 0) {
                throw new IOException("the process is gone");
            }
            at += n;
        }
    }

    private static void writeFully(FileChannel out, ByteBuffer from, long position)
            throws IOException {
        long at = position;
        while (from.hasRemaining()) {
            at += out.write(from, at);
        }
    }
}
