import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Copies the pages that a stopped process changed in its private mapping of a file: those that are swapped, or present and not of
/// the file.
final class OwnPages {
    private static final int PAGE = 4096;
    private static final int PAGES_AT_ONCE = 1 << 16;
    private static final int MAX_RUN = 256;
    private static final long SWAPPED = 1L << 62;
    private static final long PRESENT = 1L << 63;
    private static final long OF_FILE = 1L << 61;

    private OwnPages() {}

    /// Writes the process's own pages of the mapping of `mapped` over `copy`.
    static void copy(long pid, Path mapped, Path copy) throws IOException {
        var proc = Path.of("/proc", Long.toString(pid));
        var range =
                Files.readAllLines(proc.resolve("maps")).stream()
                        .filter(
                                line ->
                                        line.endsWith(" " + mapped)
                                                && line.split(" ")[1].equals("rw-p"))
                        .map(line -> line.split(" ")[0].split("-"))
                        .findFirst()
                        .orElseThrow(() -> new IOException(mapped + " is not mapped"));
        long start = Long.parseUnsignedLong(range[0], 16);
        long end = Long.parseUnsignedLong(range[1], 16);
        var entries = ByteBuffer.allocateDirect(PAGES_AT_ONCE * 8).order(ByteOrder.nativeOrder());
        var bytes = ByteBuffer.allocateDirect(MAX_RUN * PAGE);
        try (var pagemap = FileChannel.open(proc.resolve("pagemap"), StandardOpenOption.READ);
                var memory = FileChannel.open(proc.resolve("mem"), StandardOpenOption.READ);
                var out = FileChannel.open(copy, StandardOpenOption.WRITE)) {
            for (long at = start; at < end; at += (long) PAGES_AT_ONCE * PAGE) {
                int pages = (int) Math.min(PAGES_AT_ONCE, (end - at) / PAGE);
                fill(pagemap, entries.clear().limit(pages * 8), at / PAGE * 8);
                int run;
                for (int first = 0; first < pages; first += Math.max(run, 1)) {
                    run = ownPages(entries, first, pages);
                    if (run > 0) {
                        long address = at + (long) first * PAGE;
                        fill(memory, bytes.clear().limit(run * PAGE), address);
                        bytes.flip();
                        while (bytes.hasRemaining()) {
                            out.write(bytes, address - start + bytes.position());
                        }
                    }
                }
            }
        }
    }

    private static int ownPages(ByteBuffer entries, int first, int pages) {
        int end = first;
        while (end < Math.min(pages, first + MAX_RUN) && isOwn(entries.getLong(end * 8))) {
            end++;
        }
        return end - first;
    }

    private static boolean isOwn(long entry) {
        return (entry & SWAPPED) != 0 || (entry & (PRESENT | OF_FILE)) == PRESENT;
    }

    private static void fill(FileChannel from, ByteBuffer into, long position) throws IOException {
        while (into.hasRemaining()) {
            if (from.read(into, position + into.position()) <= 0) {
                throw new IOException("a QEMU of the floor ended");
            }
        }
    }
}
