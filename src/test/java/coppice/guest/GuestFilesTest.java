package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(120)
class GuestFilesTest {
    private static final Optional<String> ROOT = Optional.empty();
    private static final int[] SIZES = {
        0,
        1,
        Frame.MAX_DATA - 1,
        Frame.MAX_DATA,
        Frame.MAX_DATA + 1,
        Inlet.WINDOW - 1,
        Inlet.WINDOW,
        Inlet.WINDOW + 1,
        3_000_001
    };

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));
    private final Random random = Seed.random(GuestFilesTest.class);

    @AfterEach
    void unplug() throws IOException {
        assertTrue(
                vm.done().stream().noneMatch(what -> what.startsWith("breach")),
                () -> vm.done().toString());
        vm.close();
    }

    private static Failure failing(Code code, Executable action) {
        var failure = assertThrows(Failure.class, action);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }

    private byte[] bytes(int size) {
        var bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private int size() {
        return random.nextBoolean() ? SIZES[random.nextInt(SIZES.length)] : random.nextInt(700_000);
    }

    private static NewFile file(byte[] bytes) {
        var sum = new CRC32C();
        sum.update(bytes);
        return new NewFile(bytes.length, OptionalInt.empty(), OptionalLong.of(sum.getValue()));
    }

    private void write(GuestFiles files, String path, byte[] bytes) {
        try (var writing = files.write(path, ROOT, file(bytes))) {
            for (int done = 0; done < bytes.length; ) {
                int length = Math.min(bytes.length - done, 1 + random.nextInt(100_000));
                writing.write(bytes, done, length, Given.soon());
                done += length;
            }
            writing.commit(Given.soon());
        }
    }

    private byte[] read(GuestFiles files, String path, FileRange range) {
        try (var reading = files.read(path, ROOT, range, Given.soon())) {
            var all = new ByteArrayOutputStream();
            var part = new byte[1 + random.nextInt(100_000)];
            for (int count = 0; count >= 0; ) {
                all.write(part, 0, count);
                count = reading.read(part, 0, part.length, Given.soon());
            }
            assertEquals(reading.length(), all.size());
            return all.toByteArray();
        }
    }

    private static byte[] kept(FakeGuest vm, String path) {
        synchronized (vm) {
            return vm.files().files.get(path);
        }
    }

    @Test
    void everyByteGoesInAndComesBackWhateverTheSizesAndWindows() throws Exception {
        vm.withWindow(1 + random.nextInt(300_000));
        var files = Given.connect(vm.plug()).files();
        for (int round = 0; round < 30; round++) {
            var bytes = bytes(round < SIZES.length ? SIZES[round] : size());
            write(files, "/a/b", bytes);
            assertArrayEquals(bytes, kept(vm, "/a/b"));
            assertArrayEquals(bytes, read(files, "/a/b", FileRange.WHOLE));
            int from = random.nextInt(bytes.length + 2);
            int length = random.nextInt(bytes.length + 2);
            var part = read(files, "/a/b", new FileRange(from, OptionalLong.of(length)));
            int start = Math.min(from, bytes.length);
            int end = Math.min(start + length, bytes.length);
            assertArrayEquals(Arrays.copyOfRange(bytes, start, end), part);
        }
    }

    @Test
    void aWriteThatIsCutOffLeavesTheOldFileOrTheNewOne() throws Exception {
        int written = 0;
        for (int round = 0; round < 60; round++) {
            var before = bytes(random.nextInt(2000));
            var after = bytes(random.nextInt(200_000));
            synchronized (vm) {
                vm.files().files.put("/f", before);
            }
            long readable = 20_000 + random.nextLong(250_000);
            var guest = greeted(readable, 500 + random.nextLong(2000));
            boolean isWritten = guest.isPresent() && tryToWrite(guest.get(), after);
            written += isWritten ? 1 : 0;
            var now = kept(vm, "/f");
            assertTrue(Arrays.equals(after, now) || !isWritten && Arrays.equals(before, now));
        }
        assertTrue(written > 0 && written < 60, "written " + written);
    }

    private Optional<Guest> greeted(long readable, long writable) throws IOException {
        try {
            return Optional.of(Given.connect(vm.plug(readable, writable)));
        } catch (Failure e) {
            assertEquals(Code.UNAVAILABLE, e.code());
            return Optional.empty();
        }
    }

    private boolean tryToWrite(Guest guest, byte[] bytes) {
        try {
            write(guest.files(), "/f", bytes);
            return true;
        } catch (Failure e) {
            assertEquals(Code.UNAVAILABLE, e.code());
            return false;
        }
    }

    @Test
    void aReadThatIsCutOffFailsAndNeverEnds() throws Exception {
        var bytes = bytes(400_000);
        synchronized (vm) {
            vm.files().files.put("/f", bytes);
        }
        for (int round = 0; round < 40; round++) {
            var guest = greeted(Long.MAX_VALUE, 500 + random.nextLong(395_000));
            if (guest.isPresent()) {
                failing(Code.UNAVAILABLE, () -> read(guest.get().files(), "/f", FileRange.WHOLE));
            }
        }
    }

    @Test
    void aWritingThatIsClosedEarlyWritesNothing() throws Exception {
        var guest = Given.connect(vm.plug());
        try (var writing = guest.files().write("/f", ROOT, file(new byte[100]))) {
            writing.write(new byte[99], 0, 99, Given.soon());
            guest.ping(Given.soon()); // by then the agent knows of it
            assertThrows(IllegalStateException.class, () -> writing.commit(Given.soon()));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> writing.write(new byte[2], 0, 2, Given.soon()));
        }
        guest.ping(Given.soon());
        failing(Code.FILE_NOT_FOUND, () -> guest.files().stat("/f", ROOT, true, Given.soon()));
        assertEquals(List.of("reset"), vm.done().stream().filter("reset"::equals).toList());
    }

    @Test
    void anErrorOfTheGuestReachesTheWriterInTheMiddle() throws Exception {
        var guest = Given.connect(vm.plug());
        var files = guest.files();
        var all = new byte[100_000_000];
        var full =
                failing(
                        Code.DISK_FULL,
                        () -> {
                            try (var writing = files.write("/full/f", ROOT, file(all))) {
                                writing.write(all, 0, all.length, Given.soon());
                            }
                        });
        assertTrue(full.getMessage().contains("/full/f"), full.getMessage());
        var other =
                new NewFile(
                        3,
                        OptionalInt.of(0644),
                        OptionalLong.of(file(new byte[3]).checksum().getAsLong() ^ 1));
        try (var writing = files.write("/f", ROOT, other)) {
            writing.write(new byte[3], 0, 3, Given.soon());
            failing(Code.CHECKSUM_MISMATCH, () -> writing.commit(Given.soon()));
        }
        guest.ping(Given.soon());
    }

    @Test
    void whatTheKernelRefusesIsTyped() throws Exception {
        var files = Given.connect(vm.plug()).files();
        write(files, "/d/f", new byte[5]);
        var app = Optional.of("app");
        failing(Code.FILE_NOT_FOUND, () -> files.stat("/no", ROOT, true, Given.soon()));
        failing(Code.FILE_NOT_FOUND, () -> files.remove("/no", ROOT, Given.soon()));
        failing(Code.ACCESS_DENIED, () -> files.stat("/secret/x", app, true, Given.soon()));
        failing(
                Code.BAD_REQUEST,
                () -> files.read("/d", ROOT, FileRange.WHOLE, Given.soon()).close());
        failing(Code.BAD_REQUEST, () -> files.list("/d/f", ROOT, true, Given.soon()));
        failing(Code.CONFLICT, () -> files.mkdir("/d/f", ROOT, Given.soon()));
        for (var path : List.of("", "d", "/a/../b", "/..", "/a\0b", "/" + "x".repeat(4096))) {
            failing(Code.BAD_REQUEST, () -> files.stat(path, ROOT, true, Given.soon()));
        }
        try (var old = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin))) {
            var without = Given.connect(old.without("file.list").plug()).files();
            failing(Code.AGENT_UNSUPPORTED, () -> without.list("/", ROOT, true, Given.soon()));
        }
    }

    @Test
    void directoriesAreMadeListedDescribedAndRemoved() throws Exception {
        var files = Given.connect(vm.plug()).files();
        files.mkdir("/a/b", ROOT, Given.soon());
        files.mkdir("/a/b", ROOT, Given.soon());
        write(files, "/a/f\u202e\n", new byte[7]);
        assertEquals(
                Set.of(
                        new DirectoryEntry("b", FileKind.DIRECTORY),
                        new DirectoryEntry("f\u202e\n", FileKind.FILE)),
                new HashSet<>(files.list("/a", ROOT, false, Given.soon())));
        assertEquals(
                new FileDescription(
                        FileKind.FILE,
                        7,
                        0600,
                        "root",
                        "0",
                        Instant.ofEpochSecond(1_767_323_045L, 6)),
                files.stat("/a/f\u202e\n", ROOT, false, Given.soon()));
        files.remove("/a", ROOT, Given.soon());
        assertEquals(List.of(), files.list("/", ROOT, false, Given.soon()));
    }

    @Test
    void aWatchTellsWhatHappensAfterItIsThere() throws Exception {
        var guest = Given.connect(vm.plug());
        var files = guest.files();
        write(files, "/before", new byte[1]);
        try (var watch = files.watch("/w", ROOT, Given.soon())) {
            assertEquals(Optional.empty(), watch.next(Duration.ZERO));
            for (int i = 0; i < 3000; i++) {
                write(files, "/w/" + "x".repeat(random.nextInt(200)) + i % 7, new byte[1]);
            }
            files.remove("/w", ROOT, Given.soon());
            int told = 0;
            var last = watch.next(Duration.ofSeconds(30)).orElseThrow();
            for (; last.kind() != FileEvent.Kind.DELETE; told++) {
                assertTrue(last.path().startsWith("/w/"), last.path());
                last = watch.next(Duration.ofSeconds(30)).orElseThrow();
            }
            assertEquals(3000, told);
            assertEquals(new FileEvent(FileEvent.Kind.DELETE, "/w"), last);
            guest.close();
            failing(Code.UNAVAILABLE, () -> watch.next(Duration.ofSeconds(30)));
        }
    }

    @Test
    void aReaderThatStopsHoldsUpNobodyElse() throws Exception {
        var guest = Given.connect(vm.plug());
        var bytes = bytes(2_000_000);
        write(guest.files(), "/f", bytes);
        try (var stalled = guest.files().read("/f", ROOT, FileRange.WHOLE, Given.soon())) {
            assertArrayEquals(bytes, read(guest.files(), "/f", FileRange.WHOLE));
            assertFalse(stalled.description().size() < bytes.length);
            var part = new byte[bytes.length];
            int count = stalled.read(part, 0, part.length, Given.soon());
            assertTrue(count <= Inlet.WINDOW, "held " + count);
        }
        guest.ping(Given.soon());
        assertTrue(vm.done().contains("reset"));
    }

    @Test
    void aGuestThatTakesNothingStopsTheWriterUntilItsDeadline() throws Exception {
        var channel = vm.scripted(Scripts::answerOnlySync);
        var guest = Given.connect(channel);
        var all = new byte[4 << 20];
        try (var writing = guest.files().write("/f", ROOT, file(all))) {
            failing(
                    Code.UNAVAILABLE,
                    () -> writing.write(all, 0, all.length, Deadline.in(Duration.ofMillis(50))));
            failing(Code.UNAVAILABLE, () -> writing.write(all, 0, 1, Given.soon()));
        }
        guest.sync(Given.soon());
    }
}
