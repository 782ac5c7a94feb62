package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.TestVolume;
import coppice.process.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS) // they share one compiled program
@ParameterizedClass
@EnumSource
class GuestMemoryIT {
    /// The two ways in which a kernel tells which pages are a process's own.
    enum Way {
        PAGEMAP_SCAN(ScannedPages::new),
        PAGEMAP_BITS(PagemapBits::new);

        private final GuestMemory.Opener opener;

        Way(GuestMemory.Opener opener) {
            this.opener = opener;
        }
    }

    private static final int PAGE = 4096;
    private static final byte MARK = (byte) 0xEE;
    private static final Size NOTHING = new Size(0);

    @Parameter private Way way;
    private Path program;
    @TempDir private Path directory;
    private final Random random = Seed.random(GuestMemoryIT.class);

    @BeforeAll
    void compile(@TempDir Path programs) throws Exception {
        assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "skipped: reading the memory of another process needs root");
        program = DirtyProcess.compile(programs);
    }

    @BeforeEach
    void requireWay() throws IOException {
        if (way == Way.PAGEMAP_SCAN) {
            try (var pages = OwnPages.of(ProcessHandle.current().pid())) {
                assumeTrue(pages instanceof ScannedPages, "skipped: Linux < 6.7");
            }
        }
    }

    @Test
    void aCopyOfTheImageWithTheOwnPagesIsTheMemoryOfTheProcess() throws IOException {
        for (int round = 0; round < 5; round++) {
            var image = file("image-" + round, 1000 + random.nextInt(3000));
            var copy = Files.copy(image, directory.resolve("copy-" + round));
            try (var process = start(new DirtyProcess.Part(image))) {
                var written = memory(process).copyOwnPages(at(image), copy);
                assertSame(process.memory(), Files.readAllBytes(copy));
                assertEquals(process.ownMemory(), written);
            }
        }
    }

    /// The target holds a mark instead of the image: what is not the process's own must stay marked, and be what the image has.
    @Test
    void onlyOwnPagesAreWritten() throws IOException {
        var image = file("image", 3000);
        var target = marked(3000 * PAGE);
        try (var process = start(new DirtyProcess.Part(image))) {
            memory(process).copyOwnPages(at(image), target);
            var memory = process.memory();
            var before = Files.readAllBytes(image);
            var after = Files.readAllBytes(target);
            long own = 0;
            for (int at = 0; at < after.length; at += PAGE) {
                boolean isOwn = !isMarked(after, at);
                own += isOwn ? 1 : 0;
                assertTrue(
                        Arrays.equals(memory, at, at + PAGE, isOwn ? after : before, at, at + PAGE),
                        "page " + at / PAGE + ", own: " + isOwn);
            }
            assertEquals(process.ownMemory(), new Size(own * PAGE));
        }
    }

    /// More ranges than the kernel tells at once, each copied once.
    @Test
    void manyShortRangesAreCopiedOnceEach() throws IOException {
        var image = sparse("image", 24000L * PAGE);
        var copy = sparse("copy", 24000L * PAGE);
        var everyOther = LongStream.range(0, 12000).map(page -> 2 * page).boxed().toList();
        try (var process = start(new DirtyProcess.Part(image, 0, 24000L * PAGE, everyOther))) {
            var written = memory(process).copyOwnPages(at(image), copy);
            assertEquals(process.ownMemory(), written);
            assertSame(process.memory(), Files.readAllBytes(copy));
        }
    }

    @Test
    void severalFilesAndPartsOfFilesComeToTheirPlaces() throws IOException {
        var ram = file("ram", 2500);
        var module = file("module", 1500);
        var image = directory.resolve("image");
        try (var all = Files.newOutputStream(image)) {
            Files.copy(ram, all);
            Files.copy(module, all);
        }
        long split = 1000L * PAGE;
        try (var process =
                start(
                        new DirtyProcess.Part(ram, 0, split, List.of(0L, 999L)),
                        new DirtyProcess.Part(ram, split, 1500L * PAGE, List.of(0L, 1499L)),
                        new DirtyProcess.Part(module))) {
            var sources = new LinkedHashMap<Path, Size>();
            sources.put(ram, NOTHING);
            sources.put(module, new Size(2500L * PAGE));
            var written = memory(process).copyOwnPages(sources, image);
            assertSame(process.memory(), Files.readAllBytes(image));
            assertEquals(process.ownMemory(), written);
        }
    }

    /// Longer than what is asked of the kernel at once, with changes on both sides of the seam.
    @Test
    void aLargeMappingIsCopiedWhole() throws IOException {
        var image = sparse("image", 300L << 20);
        var copy = sparse("copy", 300L << 20);
        var seam = List.of(0L, 65534L, 65535L, 65536L, 65537L, (300L << 20) / PAGE - 1);
        var part = new DirtyProcess.Part(image, 0, 300L << 20, seam);
        try (var process = start(part)) {
            var written = memory(process).copyOwnPages(at(image), copy);
            assertEquals(process.ownMemory(), written);
            assertSame(process.memory(), Files.readAllBytes(copy));
        }
    }

    @Test
    void aReflinkOfTheImageWorksAsWellAndTheImageStaysAsItIs() throws IOException {
        try (var mounted = TestVolume.in(directory.resolve("data"))) {
            var root = mounted.prepare().root();
            var image = Files.copy(file("image", 2000), root.resolve("ram"));
            var before = Files.readAllBytes(image);
            mounted.reflink().copy(image, root.resolve("copy"));
            try (var process = start(new DirtyProcess.Part(image))) {
                memory(process).copyOwnPages(at(image), root.resolve("copy"));
                assertSame(process.memory(), Files.readAllBytes(root.resolve("copy")));
                assertSame(before, Files.readAllBytes(image));
            }
        }
    }

    @Test
    void aFileOfAnotherFileSystemWithTheSameInodeNumberIsNotTakenForTheImage() throws IOException {
        var image = mountedFile("first");
        try {
            var other = mountedFile("second");
            try {
                assumeTrue(inode(image) == inode(other), "skipped: the inode numbers differ");
                var target = marked(1000 * PAGE);
                try (var process =
                        start(new DirtyProcess.Part(other), new DirtyProcess.Part(image))) {
                    memory(process).copyOwnPages(at(image), target);
                    var memory = process.memory();
                    var mine = Arrays.copyOfRange(memory, memory.length / 2, memory.length);
                    var after = Files.readAllBytes(target);
                    for (int at = 0; at < after.length; at += PAGE) {
                        assertTrue(
                                isMarked(after, at)
                                        || Arrays.equals(mine, at, at + PAGE, after, at, at + PAGE),
                                "page " + at / PAGE + " is of another file");
                    }
                }
            } finally {
                run("umount", other.getParent().toString());
            }
        } finally {
            run("umount", image.getParent().toString());
        }
    }

    @Test
    void aProcessThatDoesNotMapTheImageOrIsGoneIsAFailure() throws IOException {
        var image = file("image", 1500);
        var other = file("other", 1500);
        var process = start(new DirtyProcess.Part(other));
        var memory = memory(process);
        var failure = assertThrows(Failure.class, () -> memory.copyOwnPages(at(image), image));
        assertTrue(failure.getMessage().contains("does not map"), failure.getMessage());
        process.close();
        var gone = assertThrows(Failure.class, () -> memory.copyOwnPages(at(other), image));
        assertEquals(Code.UNAVAILABLE, gone.code());
    }

    private GuestMemory memory(DirtyProcess process) {
        return new GuestMemory(process.id().pid(), way.opener);
    }

    private DirtyProcess start(DirtyProcess.Part... parts) throws IOException {
        return new DirtyProcess(program, random.nextInt(Integer.MAX_VALUE), parts);
    }

    private static Map<Path, Size> at(Path image) {
        return Map.of(image, NOTHING);
    }

    private Path file(String name, int pages) throws IOException {
        var bytes = new byte[pages * PAGE];
        random.nextBytes(bytes);
        return Files.write(directory.resolve(name), bytes);
    }

    private Path marked(int length) throws IOException {
        var bytes = new byte[length];
        Arrays.fill(bytes, MARK);
        return Files.write(directory.resolve("marked"), bytes);
    }

    private static boolean isMarked(byte[] bytes, int from) {
        for (int i = from; i < from + PAGE; i++) {
            if (bytes[i] != MARK) {
                return false;
            }
        }
        return true;
    }

    private Path sparse(String name, long length) throws IOException {
        var file = directory.resolve(name);
        try (var made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(length);
        }
        return file;
    }

    private Path mountedFile(String name) throws IOException {
        var mount = Files.createDirectory(directory.resolve(name));
        run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", mount.toString());
        return Files.copy(file(name + ".bytes", 1000), mount.resolve("ram"));
    }

    private static long inode(Path file) throws IOException {
        return (long) Files.getAttribute(file, "unix:ino");
    }

    private static void run(String... line) {
        new Command(List.of(line)).runOrFail(Deadline.in(Duration.ofSeconds(20)));
    }

    private static void assertSame(byte[] expected, byte[] actual) {
        int different = Arrays.mismatch(expected, actual);
        assertEquals(-1, different, "first different byte, in page " + different / PAGE);
    }
}
