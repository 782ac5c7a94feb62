package coppice.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// On a file system that cannot share blocks. [ReflinkIT] has one that can.
class ReflinkTest {
    private Path directory;
    private final Reflink reflink = new Reflink();

    @BeforeEach
    void open() throws IOException {
        var memory = Path.of("/dev/shm");
        assumeTrue(Files.isWritable(memory), "skipped: no /dev/shm");
        directory = Files.createTempDirectory(memory, "reflink-test-");
    }

    @AfterEach
    void close() {
        reflink.close();
        if (directory != null) {
            Published.delete(directory);
        }
    }

    @Test
    void aCopyThatCannotShareIsRefusedAndLeavesNothing() throws IOException {
        var from = Files.writeString(directory.resolve("from"), "text");
        var to = directory.resolve("to");
        var failure = assertThrows(Failure.class, () -> reflink.copy(from, to));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains("reflink"), failure.getMessage());
        assertFalse(Files.exists(to));
    }

    @Test
    void anAbsentSourceIsRefusedAndLeavesNothing() {
        var absent = directory.resolve("absent");
        var to = directory.resolve("to");
        var failure = assertThrows(Failure.class, () -> reflink.copy(absent, to));
        assertTrue(failure.getMessage().contains("No such file"), failure.getMessage());
        assertFalse(Files.exists(to));
    }

    @Test
    void itIsFoundNotToWorkHereAndTheTryLeavesNothing() throws IOException {
        assertFalse(reflink.worksIn(directory));
        try (var files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
    }
}
