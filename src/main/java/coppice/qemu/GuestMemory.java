package coppice.qemu;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.ProcessId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
    private record Mapping(long start, long end, long fileOffset, long inode) {}

    GuestMemory(ProcessId process) {
        this.process = process;
    }

    /// Writes the process's own pages over `image`.
    ///
    /// @param sources the mapped files, and where the first byte of each stands in `image`
    /// @return how much was written
    Size copyOwnPages(Map<Path, Size> sources, Path image) {
        var proc = Path.of("/proc", Long.toString(process.pid()));
        try (var pagemap = FileChannel.open(proc.resolve("pagemap"), StandardOpenOption.READ);
                var memory = FileChannel.open(proc.resolve("mem"), StandardOpenOption.READ);
                var out = FileChannel.open(image, StandardOpenOption.WRITE)) {
            long written = 0;
            for (var source : sources.entrySet()) {
                long inode = (long) Files.getAttribute(source.getKey(), "unix:ino");
                var mappings = mappings().stream().filter(m -> m.inode() == inode).toList();
                if (mappings.isEmpty()) {
                    throw new Failure(
                            Code.UNAVAILABLE,
                            "the QEMU does not map its memory image " + source.getKey());
                }
                for (var mapping : mappings) {
                    written += copy(mapping, source.getValue().bytes(), pagemap, memory, out);
                }
            }
            return new Size(written);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "guest memory could not be copied: " + e.getMessage(), e);
        }
    }

    private List<Mapping> mappings() throws IOException {
        var found = new ArrayList<Mapping>();
        for (var line :
                Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "maps"))) {
            var fields = line.split(" +", 6);
            if (fields[1].startsWith("rw") && fields[1].endsWith("p")) {
                var range = fields[0].split("-");
                found.add(
                        new Mapping(
                                Long.parseUnsignedLong(range[0], 16),
                                Long.parseUnsignedLong(range[1], 16),
                                Long.parseUnsignedLong(fields[2], 16),
                                Long.parseLong(fields[4])));
            }
        }
        return found;
    }

    private static long copy(
            Mapping mapping, long base, FileChannel pagemap, FileChannel memory, FileChannel out)
            throws IOException {
        var entries =
                ByteBuffer.allocateDirect(PAGES_AT_ONCE * Long.BYTES)
                        .order(ByteOrder.nativeOrder());
        var bytes = ByteBuffer.allocateDirect(COPY_BYTES);
        long written = 0;
        for (long at = mapping.start(); at < mapping.end(); at += (long) PAGES_AT_ONCE * PAGE) {
            int pages = (int) Math.min(PAGES_AT_ONCE, (mapping.end() - at) / PAGE);
            entries.clear().limit(pages * Long.BYTES);
            readFully(pagemap, entries, at / PAGE * Long.BYTES);
            for (int first = 0; first < pages; ) {
                if (!isOwn(entries.getLong(first * Long.BYTES))) {
                    first++;
                    continue;
                }
                int end = first + 1;
                while (end < pages
                        && end - first < COPY_BYTES / PAGE
                        && isOwn(entries.getLong(end * Long.BYTES))) {
                    end++;
                }
                long address = at + (long) first * PAGE;
                bytes.clear().limit((end - first) * PAGE);
                readFully(memory, bytes, address);
                bytes.flip();
                writeFully(out, bytes, base + mapping.fileOffset() + address - mapping.start());
                written += (long) (end - first) * PAGE;
                first = end;
            }
        }
        return written;
    }

    private static boolean isOwn(long entry) {
        return (entry & SWAPPED) != 0 || (entry & (PRESENT | OF_FILE)) == PRESENT;
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
