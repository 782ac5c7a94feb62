package coppice.disk;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;

/// Directories and files that appear whole or not at all, and last through a power cut: written beside their place under a name that
/// ends in `.tmp`, synced, and renamed. What is left under such a name belongs to nobody and is removed at the next start.
public final class Published {
    public static final String UNFINISHED = ".tmp";

    private Published() {}

    /// Where a directory is made before it is published at `place`.
    public static Path unfinished(Path place) {
        return place.resolveSibling(place.getFileName() + UNFINISHED);
    }

    /// Syncs every file of `unfinished` and renames it to `place`, which must not exist.
    public static void directory(Path unfinished, Path place) {
        try {
            try (var files = Files.list(unfinished)) {
                for (var file : files.toList()) {
                    sync(file);
                }
            }
            sync(unfinished);
            Files.move(unfinished, place, StandardCopyOption.ATOMIC_MOVE);
            sync(place.getParent());
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s could not be written".formatted(place), e);
        }
    }

    /// Makes the names in a directory last.
    public static void sync(Path path) throws IOException {
        // fsync works on a descriptor opened for reading, and a directory cannot be opened
        // otherwise.
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /// Removes a file or a whole tree; absent is fine. Links are removed, never followed.
    public static void delete(Path tree) {
        if (!Files.exists(tree, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (var paths = Files.walk(tree)) {
            for (var path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException e) { // the walk throws the latter
            throw new Failure(Code.UNAVAILABLE, "%s could not be removed".formatted(tree), e);
        }
    }
}
