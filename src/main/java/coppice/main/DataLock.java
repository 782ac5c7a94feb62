package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/// Keeps a second server off a data directory. The kernel gives the lock back when the process ends, however it ends.
final class DataLock implements AutoCloseable {
    private final FileChannel channel;

    private DataLock(FileChannel channel) {
        this.channel = channel;
    }

    /// The data directory, made if it is not there.
    static Path directory(Settings settings) {
        try {
            return Files.createDirectories(settings.dataDirectory());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the data directory %s cannot be made".formatted(settings.dataDirectory()),
                    e);
        }
    }

    static DataLock take(Path dataDirectory) {
        try {
            Files.createDirectories(dataDirectory);
            var channel =
                    FileChannel.open(
                            dataDirectory.resolve("server.lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
            if (channel.tryLock() == null) {
                channel.close();
                throw taken(dataDirectory);
            }
            return new DataLock(channel);
        } catch (OverlappingFileLockException e) {
            throw taken(dataDirectory);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the data directory %s cannot be used".formatted(dataDirectory),
                    e);
        }
    }

    /// Whether a server has this data directory. Looks (proc_locks(5)) and does not try: a server that starts at this moment must get it.
    static boolean isTaken(Path dataDirectory) {
        var lock = dataDirectory.resolve("server.lock");
        try (var locks = Files.lines(Path.of("/proc/locks"))) {
            var inode = ":%s ".formatted(Files.getAttribute(lock, "unix:ino"));
            return locks.anyMatch(line -> line.contains(inode));
        } catch (IOException e) {
            return false; // no server was ever there
        }
    }

    /// Names a data directory among those of this machine, short enough for the names of control groups.
    static String instance(Path dataDirectory) {
        var hash = new CRC32();
        hash.update(dataDirectory.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return "%08x".formatted(hash.getValue());
    }

    private static Failure taken(Path dataDirectory) {
        return new Failure(
                Code.CONFLICT,
                "another server uses %s; stop it with './coppice down', or set data.directory"
                        .formatted(dataDirectory));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
