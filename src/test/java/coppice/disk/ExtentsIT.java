package coppice.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.Wait;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/// What the kernel tells of files of a real volume.
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // they share one volume
class ExtentsIT {
    private static final int BLOCK = 4096;

    private final Random random = Seed.random(ExtentsIT.class);
    private TestVolume mounted;
    private Path root;
    private Path directory;

    @BeforeAll
    void mount(@TempDir Path temporary) throws IOException {
        mounted = TestVolume.in(temporary);
        root = mounted.prepare().root();
    }

    @AfterAll
    void unmount() {
        if (mounted != null) {
            mounted.close();
        }
    }

    @BeforeEach
    void enter() throws IOException {
        directory = Files.createTempDirectory(root, "test-");
    }

    @Test
    void aFileIsItsOwnUntilItIsCopiedAndAgainWhenTheCopyIsGone() throws IOException {
        var file = Files.write(directory.resolve("file"), bytes(256 * BLOCK));
        assertEquals(use(256, 0), use(file));

        var copy = directory.resolve("copy");
        mounted.reflink().copy(file, copy);
        assertEquals(use(0, 256), use(file));
        assertEquals(use(0, 256), use(copy));

        Files.delete(copy);
        // XFS takes apart what is deleted a moment later.
        Wait.until(
                TestVolume.soon().left(),
                () -> use(file).equals(use(256, 0)),
                () -> "still shared: " + use(file));
    }

    @Test
    void whatIsWrittenToACopyIsItsOwn() throws IOException {
        var file = Files.write(directory.resolve("file"), bytes(256 * BLOCK));
        var copy = directory.resolve("copy");
        mounted.reflink().copy(file, copy);
        write(copy, 10, 30);

        assertEquals(use(30, 226), use(copy));
        assertEquals(use(30, 226), use(file), "what only the original has any more is its own");
    }

    @Test
    void holesTakeNothing() throws IOException {
        var file = directory.resolve("file");
        try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(1L << 40);
        }
        assertEquals(DiskUse.NONE, use(file));
        write(file, 1000, 3);
        assertEquals(use(3, 0), use(file));
    }

    @Test
    void aFileWithFurtherNamesIsShared() throws IOException {
        var file = Files.write(directory.resolve("file"), bytes(64 * BLOCK));
        var other = Files.createLink(directory.resolve("other"), file);
        assertEquals(use(0, 64), use(file));
        Files.delete(other);
        assertEquals(use(64, 0), use(file));
    }

    @Test
    void aFileOfMoreExtentsThanAPageHoldsIsReadWhole() throws IOException {
        var file = Files.write(directory.resolve("file"), bytes(4 * FiemapPage.EXTENTS * BLOCK));
        mounted.reflink().copy(file, directory.resolve("copy"));
        int written = 0;
        try (var opened = new RandomAccessFile(file.toFile(), "rw")) {
            for (int i = 0; i < 4 * FiemapPage.EXTENTS; i += 4, written++) {
                opened.seek((long) i * BLOCK);
                opened.write(bytes(BLOCK));
            }
        }
        assertEquals(use(written, 4 * FiemapPage.EXTENTS - written), use(file));
    }

    @Test
    void thereIsNoAnswerAfterTheDeadline() throws IOException {
        var file = Files.write(directory.resolve("file"), bytes(BLOCK));
        assertEquals(Optional.empty(), Extents.of(file, Deadline.in(Duration.ZERO)));
    }

    @Test
    void whatIsGoneOrNoFileTakesNothingAndNothingWaitsForIt() {
        assertEquals(DiskUse.NONE, use(directory.resolve("absent")));
        var pipe = directory.resolve("pipe");
        Command.of("mkfifo", pipe.toString()).runOrFail(TestVolume.soon());
        assertEquals(DiskUse.NONE, use(pipe));
    }

    @Test
    void aFileSystemThatCannotTellIsAFailure() {
        assertThrows(
                Failure.class, () -> Extents.of(Path.of("/proc/self/status"), TestVolume.soon()));
    }

    private DiskUse use(Path file) {
        Command.of("sync", "-f", directory.toString()).runOrFail(TestVolume.soon());
        return Extents.of(file, TestVolume.soon()).orElseThrow();
    }

    private static DiskUse use(long own, long shared) {
        return new DiskUse(new Size(own * BLOCK), new Size(shared * BLOCK));
    }

    private void write(Path file, long block, int count) throws IOException {
        try (var opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.seek(block * BLOCK);
            opened.write(bytes(count * BLOCK));
        }
    }

    private byte[] bytes(int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
