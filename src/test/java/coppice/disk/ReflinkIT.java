package coppice.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Failure;
import coppice.process.Command;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS) // they share one volume
class ReflinkIT {
    private Path data;
    private TestVolume mounted;
    private DataVolume volume;
    private final Random random = Seed.random(ReflinkIT.class);
    private Path directory;

    @BeforeAll
    void mount(@TempDir Path temporary) throws IOException {
        data = temporary;
        mounted = TestVolume.in(data);
        volume = mounted.prepare();
    }

    @AfterAll
    void unmount() {
        if (mounted != null) {
            mounted.close();
        }
    }

    @BeforeEach
    void enter() throws IOException {
        directory = Files.createTempDirectory(volume.root(), "test-");
    }

    @Test
    void aCopyHasTheSameBytesAndNeitherSideSeesLaterWritesOfTheOther() throws IOException {
        for (int length : new int[] {0, 1, 4095, 4096, 4097, random.nextInt(1, 3 << 20)}) {
            var bytes = bytes(length);
            var from = Files.write(directory.resolve("from-" + length), bytes);
            var to = directory.resolve("to-" + length);
            mounted.reflink().copy(from, to);
            assertArrayEquals(bytes, Files.readAllBytes(to), length + " bytes");
            overwrite(to, bytes(length + 10));
            assertArrayEquals(bytes, Files.readAllBytes(from), length + " bytes");
            var changed = Files.readAllBytes(to);
            overwrite(from, bytes(length + 10));
            assertArrayEquals(changed, Files.readAllBytes(to), length + " bytes");
        }
    }

    @Test
    void aCopyTakesNoSpace() throws IOException {
        var from = Files.write(directory.resolve("from"), bytes(64 << 20));
        sync();
        var before = volume.free();
        mounted.reflink().copy(from, directory.resolve("to"));
        sync();
        long taken = before.bytes() - volume.free().bytes();
        assertTrue(taken < 1 << 20, "the copy of 64 MiB took " + taken + " bytes");
    }

    @Test
    void aFileThatIsThereIsNotOverwritten() throws IOException {
        var from = Files.writeString(directory.resolve("from"), "new");
        var to = Files.writeString(directory.resolve("to"), "old");
        var failure = assertThrows(Failure.class, () -> mounted.reflink().copy(from, to));
        assertTrue(failure.getMessage().contains("exists"), failure.getMessage());
        assertEquals("old", Files.readString(to));
    }

    @Test
    void anotherFileSystemIsRefused() throws IOException {
        var from = Files.writeString(data.resolve("from"), "outside");
        var to = directory.resolve("to");
        assertThrows(Failure.class, () -> mounted.reflink().copy(from, to));
        assertTrue(Files.notExists(to));
    }

    @Test
    void aProbeOfAServerThatWasKilledDoesNotHideThatItWorks() throws IOException {
        assertTrue(mounted.reflink().worksIn(directory));
        Files.writeString(directory.resolve(".reflink-probe"), "");
        Files.writeString(directory.resolve(".reflink-probe-copy"), "");
        assertTrue(mounted.reflink().worksIn(directory));
    }

    @Test
    void manyCopiesAtOnceAllSucceed() throws Exception {
        var bytes = bytes(1 << 20);
        var from = Files.write(directory.resolve("from"), bytes);
        var copies = new ArrayList<Callable<Path>>();
        for (int i = 0; i < 50; i++) {
            var to = directory.resolve("copy-" + i);
            copies.add(
                    () -> {
                        mounted.reflink().copy(from, to);
                        return to;
                    });
        }
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var copy : callers.invokeAll(copies)) {
                assertArrayEquals(bytes, Files.readAllBytes(copy.get()));
            }
        }
    }

    private byte[] bytes(int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void overwrite(Path file, byte[] bytes) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(bytes), 0);
        }
    }

    private void sync() {
        Command.of("sync", "-f", directory.toString()).runOrFail(TestVolume.soon());
    }
}
