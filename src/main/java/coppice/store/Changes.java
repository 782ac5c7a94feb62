package coppice.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Counts the changes of a database that any process makes, in a small file beside it that all of them have in their memory: to look
/// whether something has changed takes nanoseconds, where to ask SQLite takes microseconds.
///
/// The number means nothing by itself and need not last. A process that is killed between its commit and its count has not counted; who
/// relies on this looks at the database again after a while, see [Remembered]. Where the file cannot be used, and after closing, every
/// number is another one.
final class Changes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Changes.class);
    private static final VarHandle NUMBER = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment file;
    private final AtomicLong unknown = new AtomicLong(Long.MIN_VALUE);
    private volatile boolean isUnknown;

    private Changes(FileChannel channel) throws IOException {
        long size = ValueLayout.JAVA_LONG.byteSize();
        this.file = channel.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
    }

    /// @param database its file
    static Changes of(Path database) throws IOException {
        var path = database.resolveSibling(database.getFileName() + "-changes");
        PrivateFile.createIfAbsent(path);
        try (var channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.size() == 0) {
                // Where the disk is full, it is better to hear of it here.
                channel.write(ByteBuffer.allocate(Long.BYTES));
            }
            return new Changes(channel);
        }
    }

    long number() {
        try {
            return isUnknown ? unknown.incrementAndGet() : (long) NUMBER.getAcquire(file, 0L);
        } catch (IllegalStateException _) {
            return unknown.incrementAndGet(); // it is closed
        }
    }

    /// After a change can be seen by others, before whoever asked for it is answered.
    void count() {
        try {
            var _ = (long) NUMBER.getAndAdd(file, 0L, 1L);
        } catch (InternalError e) { // what the JVM makes of SIGBUS: the disk is full, or gone
            isUnknown = true;
            LOG.error("the file that counts the changes of the database cannot be written", e);
        }
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
