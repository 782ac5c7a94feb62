package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.Wait;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.process.ProcessId;
import coppice.process.WaitingProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS) // they share one compiled program
class TwinIT {
    private static final int LENGTH = 8 << 20;

    private Path program;
    @TempDir private Path directory;
    private final Random random = Seed.random(TwinIT.class);

    @BeforeAll
    void compile(@TempDir Path programs) throws Exception {
        program = WaitingProcess.compile(programs);
    }

    @Test
    void aTwinHoldsTheMemoryOfItsInstantHoweverTheProcessGoesOn() throws IOException {
        var image = image();
        try (var process = new WaitingProcess(program, image)) {
            for (int round = 0; round < 5; round++) {
                process.change(random.nextLong());
                try (var twin = prepare(process, image)) {
                    process.change(random.nextLong());
                    twin.freeze(soon()).await();
                    var then = memory(process.id(), image);
                    process.change(random.nextLong());
                    var copy = Files.copy(image, directory.resolve("copy-" + round));

                    twin.copy(copy);

                    int different = Arrays.mismatch(then, Files.readAllBytes(copy));
                    assertEquals(
                            -1, different, "first different byte, in page " + different / 4096);
                    assertEquals(2, process.count());
                }
                awaitAlone(process);
            }
        }
    }

    @Test
    void aTwinGoesOnWithoutTheProcess() throws IOException {
        var image = image();
        var process = new WaitingProcess(program, image);
        process.change(1);
        try (var twin = prepare(process, image)) {
            twin.freeze(soon()).await();
            var then = memory(process.id(), image);
            process.close();
            var copy = Files.copy(image, directory.resolve("copy"));
            twin.copy(copy);
            assertEquals(-1, Arrays.mismatch(then, Files.readAllBytes(copy)));
        }
        Wait.until(soon().left(), () -> process.count() == 0, () -> "the twin is left");
    }

    @Test
    void aProcessThatEndsBeforeItIsFrozenIsAFailureAndLeavesNothing() throws IOException {
        var image = image();
        var process = new WaitingProcess(program, image);
        try (var twin = prepare(process, image)) {
            process.close();
            assertThrows(Failure.class, () -> twin.freeze(soon()).await());
        }
        assertEquals(0, process.count());
    }

    private static Twin prepare(WaitingProcess process, Path image) {
        return Twin.prepare(process.id(), process.id().pid(), at(image), soon());
    }

    private static void awaitAlone(WaitingProcess process) {
        Wait.until(soon().left(), () -> process.count() == 1, () -> "the twin is left");
    }

    private Path image() throws IOException {
        var bytes = new byte[LENGTH];
        random.nextBytes(bytes);
        return Files.write(directory.resolve("image"), bytes);
    }

    private static Map<Path, Size> at(Path image) {
        return Map.of(image, new Size(0));
    }

    private static byte[] memory(ProcessId process, Path image) throws IOException {
        var all = ByteBuffer.allocate(LENGTH);
        long start = MemoryMap.of(process.pid()).of(image).getFirst().start();
        var file = Path.of("/proc", Long.toString(process.pid()), "mem");
        try (var memory = FileChannel.open(file, StandardOpenOption.READ)) {
            while (all.hasRemaining()) {
                memory.read(all, start + all.position());
            }
        }
        return all.array();
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(10));
    }
}
