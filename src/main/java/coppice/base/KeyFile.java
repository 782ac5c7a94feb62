package coppice.base;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// A file with a private key of this server's: only its owner may read it, and it is made whole or not at all.
public final class KeyFile {
    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OF_OTHERS =
            PosixFilePermissions.fromString("---rwxrwx");

    /// What a new file is to hold.
    @FunctionalInterface
    public interface Making<E extends Exception> {
        byte[] make() throws IOException, E;
    }

    private KeyFile() {}

    /// What is in the file, which is made if it is not there. Only one process may do so at a time.
    ///
    /// @throws Failure [Code#CONFLICT] when others may read or change it
    public static <E extends Exception> byte[] read(Path file, Making<E> key)
            throws IOException, E {
        if (Files.notExists(file)) {
            create(file, key.make());
        }
        var shared = Files.getPosixFilePermissions(file);
        shared.retainAll(OF_OTHERS);
        if (!shared.isEmpty()) {
            throw new Failure(
                    Code.CONFLICT,
                    "others may read the key %s; run 'chmod 600' on it, and make a new one if anybody did"
                            .formatted(file));
        }
        return Files.readAllBytes(file);
    }

    private static void create(Path file, byte[] key) throws IOException {
        var unfinished = file.resolveSibling(file.getFileName() + ".tmp");
        Files.deleteIfExists(unfinished);
        Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        Files.write(unfinished, key);
        sync(unfinished);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        sync(file.toAbsolutePath().getParent());
    }

    private static void sync(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
