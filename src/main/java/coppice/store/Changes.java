package coppice.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Counts the changes of a database that any process makes, in a small file beside it that all of them have in their memory: to look
/// whether something has changed takes nanoseconds, where to ask SQLite takes microseconds.
///
/// The number means nothing by itself and need not last. A process that is killed between its commit and its count has not counted; who
/// relies on this looks at the database again after a while, see [Remembered].
final class Changes {
    private static final VarHandle NUMBER = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment file;

    private Changes(MemorySegment file) {
        this.file = file;
    }

    /// @param database its file
    static Changes of(Path database) throws IOException {
        var path = database.resolveSibling(database.getFileName() + "-changes");
        PrivateFile.createIfAbsent(path);
        try (var channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Changes(
                    channel.map(
                            FileChannel.MapMode.READ_WRITE,
                            0,
                            ValueLayout.JAVA_LONG.byteSize(),
                            Arena.ofAuto()));
        }
    }

    long number() {
        return (long) NUMBER.getAcquire(file, 0L);
    }

    /// After a change can be seen by others, before whoever asked for it is answered.
    void count() {
        var _ = (long) NUMBER.getAndAdd(file, 0L, 1L);
    }
}
