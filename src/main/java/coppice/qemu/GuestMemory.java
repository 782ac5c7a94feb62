package coppice.qemu;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Map;

/// Copies the pages that a stopped QEMU, or its frozen twin, changed in its private mappings of memory images: O(changed pages), whatever
/// the guest's size. Used by one platform thread.
final class GuestMemory {
    private static final int COPY_BYTES = 1 << 20;

    private final long pid;
    private final Opener pages;

    /// How the own pages of a process are found.
    interface Opener {
        OwnPages open(long pid) throws IOException;
    }

    GuestMemory(long pid) {
        this(pid, OwnPages::of);
    }

    GuestMemory(long pid, Opener pages) {
        this.pid = pid;
        this.pages = pages;
    }

    /// Writes the process's own pages over `image`.
    ///
    /// @param sources the mapped files, and where the first byte of each stands in `image`
    /// @return how much was written
    Size copyOwnPages(Map<Path, Size> sources, Path image) {
        try (var own = pages.open(pid);
                var copying = new Copying(image)) {
            var map = MemoryMap.of(pid);
            for (var source : sources.entrySet()) {
                var areas = map.of(source.getKey());
                if (areas.isEmpty()) {
                    throw new Failure(
                            Code.UNAVAILABLE,
                            "the QEMU does not map its memory image " + source.getKey());
                }
                for (var area : areas) {
                    long toImage = source.getValue().bytes() + area.fileOffset() - area.start();
                    own.find(
                            area.start(),
                            area.end(),
                            (start, end) -> copying.copy(start, end, toImage));
                }
            }
            return new Size(copying.written);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "guest memory could not be copied: " + e.getMessage(), e);
        }
    }

    /// The open files of one copy, and its buffer: made once, since there may be thousands of mappings.
    private final class Copying implements AutoCloseable {
        private final FileChannel memory;
        private final FileChannel out;
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(COPY_BYTES);
        private long written;

        Copying(Path image) throws IOException {
            memory = FileChannel.open(Path.of("/proc", Long.toString(pid), "mem"), READ);
            try {
                out = FileChannel.open(image, WRITE);
            } catch (IOException e) {
                memory.close();
                throw e;
            }
        }

        void copy(long start, long end, long toImage) throws IOException {
            for (long at = start; at < end; at += bytes.limit()) {
                bytes.clear().limit((int) Math.min(COPY_BYTES, end - at));
                while (bytes.hasRemaining()) {
                    if (memory.read(bytes, at + bytes.position()) <= 0) {
                        throw new IOException("the process is gone");
                    }
                }
                bytes.flip();
                while (bytes.hasRemaining()) {
                    out.write(bytes, toImage + at + bytes.position());
                }
            }
            written += end - start;
        }

        @Override
        public void close() throws IOException {
            try (memory;
                    out) {
                // both, whatever one of them throws
            }
        }
    }
}
