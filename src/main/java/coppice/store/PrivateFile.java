package coppice.store;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// A new empty file that only its owner may read: the records hold key hashes. SQLite gives its side files the same rights.
final class PrivateFile {
    private PrivateFile() {}

    /// Throws `FileAlreadyExistsException` and touches nothing if it is there.
    static void create(Path file) throws IOException {
        Files.createFile(
                file,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    static void createIfAbsent(Path file) throws IOException {
        try {
            create(file);
        } catch (FileAlreadyExistsException _) {
            // Only looked at by its name: opening and closing it here would drop the locks that
            // SQLite holds in this process.
        }
    }
}
