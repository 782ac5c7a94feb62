package coppice.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishedTest {
    private static final int FILES = 30;

    @TempDir private Path directory;

    @Test
    void whoeverLooksSeesAWholeDirectoryOrNone() throws Exception {
        for (int round = 0; round < 20; round++) {
            var place = directory.resolve("place-" + round);
            var unfinished = filled(directory.resolve("place-" + round + Published.UNFINISHED));
            var looking = new CountDownLatch(1);
            var isOver = new AtomicBoolean();
            var observer = new FutureTask<>(() -> countWhenSeen(place, looking, isOver));
            Thread.ofPlatform().start(observer);
            looking.await();
            Published.directory(unfinished, place);
            isOver.set(true);
            assertEquals(FILES, observer.get(), "files that were there at first sight");
            assertFalse(Files.exists(unfinished));
        }
    }

    private static int countWhenSeen(Path place, CountDownLatch looking, AtomicBoolean isOver)
            throws IOException {
        looking.countDown();
        while (!Files.exists(place)) {
            assertFalse(isOver.get() && !Files.exists(place), "it never appeared");
        }
        try (var files = Files.list(place)) {
            return files.toList().size();
        }
    }

    @Test
    void aPlaceThatIsTakenStaysAsItIs() throws IOException {
        var place = Files.createDirectory(directory.resolve("place"));
        Files.writeString(place.resolve("old"), "old");
        var unfinished = filled(directory.resolve("new"));
        var failure = assertThrows(Failure.class, () -> Published.directory(unfinished, place));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertEquals(List.of(place.resolve("old")), list(place));
        assertEquals(FILES, list(unfinished).size());
    }

    @Test
    void whatDoesNotExistCannotBePublished() {
        var place = directory.resolve("place");
        assertThrows(Failure.class, () -> Published.directory(directory.resolve("no"), place));
        assertFalse(Files.exists(place));
    }

    @Test
    void aTreeIsRemovedAndWhatItsLinksNameStays() throws IOException {
        var outside = filled(directory.resolve("outside"));
        var tree = filled(directory.resolve("tree"));
        filled(Files.createDirectories(tree.resolve("a/b")).resolve("c"));
        Files.createSymbolicLink(tree.resolve("directory"), outside);
        Files.createSymbolicLink(tree.resolve("a/b/file"), outside.resolve("0"));
        Files.createSymbolicLink(tree.resolve("dangling"), directory.resolve("nothing"));
        Files.createSymbolicLink(tree.resolve("loop"), tree);
        Files.createSymbolicLink(tree.resolve("up"), Path.of(".."));
        Published.delete(tree);
        assertEquals(List.of(outside), list(directory));
        assertEquals(FILES, list(outside).size());
    }

    @Test
    void aLinkIsRemovedAndNotWhatItNames() throws IOException {
        var outside = filled(directory.resolve("outside"));
        var link = Files.createSymbolicLink(directory.resolve("link"), outside);
        var dangling = Files.createSymbolicLink(directory.resolve("dangling"), Path.of("nothing"));
        Published.delete(link);
        Published.delete(dangling);
        assertEquals(List.of(outside), list(directory));
        assertEquals(FILES, list(outside).size());
    }

    @Test
    void aSingleFileIsRemovedAndWhatIsAbsentIsNoMistake() throws IOException {
        var file = Files.writeString(directory.resolve("file"), "text");
        Published.delete(file);
        Published.delete(file);
        assertEquals(List.of(), list(directory));
    }

    @Test
    void aTreeThatCannotBeRemovedIsAFailure() {
        var failure =
                assertThrows(Failure.class, () -> Published.delete(Path.of("/proc/self/fdinfo")));
        assertTrue(failure.getMessage().contains("/proc/self/fdinfo"), failure.getMessage());
    }

    private static Path filled(Path made) throws IOException {
        Files.createDirectory(made);
        for (int i = 0; i < FILES; i++) {
            Files.writeString(made.resolve(Integer.toString(i)), "text " + i);
        }
        return made;
    }

    private static List<Path> list(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        }
    }
}
