package coppice.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataVolumeIT {
    @TempDir private Path temporary;
    private Path data;
    private TestVolume volume;

    @BeforeEach
    void open() throws IOException {
        data = temporary.resolve("data");
        volume = TestVolume.in(data);
        assumeFalse(
                volume.reflink().worksIn(temporary),
                "skipped: the temporary directory has reflink, so no image is made");
    }

    @AfterEach
    void close() {
        if (volume != null) {
            volume.close();
        }
    }

    @Test
    void aVolumeIsMadeMountedAndPreparedAgainWithoutAnyChange() throws IOException {
        var first = volume.prepare();
        assertEquals(1, mounts().size());
        assertTrue(volume.reflink().worksIn(first.root()));
        assertTrue(first.free().compareTo(TestVolume.SIZE) < 0, first.free().toString());
        assertEquals("rwx--x--x", permissions(first.root()));
        assertEquals("rwx--x--x", permissions(data));
        Files.writeString(first.root().resolve("kept"), "text");
        var image = Files.getAttribute(data.resolve("volume.xfs"), "unix:ino");
        var mount = mounts();

        var second = DataVolume.prepare(data, Optional.empty(), volume.reflink());
        assertEquals(first.root(), second.root());
        assertEquals(mount, mounts());
        assertEquals(image, Files.getAttribute(data.resolve("volume.xfs"), "unix:ino"));
        assertEquals("text", Files.readString(second.root().resolve("kept")));
    }

    @Test
    void whatIsOnAVolumeIsThereAfterItWasUnmounted() throws IOException {
        var root = volume.prepare().root();
        Files.writeString(root.resolve("kept"), "text");
        DataVolume.unmount(data);
        assertEquals(List.of(), mounts());
        assertFalse(Files.exists(root.resolve("kept")));
        DataVolume.unmount(data); // nothing to do

        assertEquals("text", Files.readString(volume.prepare().root().resolve("kept")));
    }

    @Test
    void aVolumeInUseIsNotUnmounted() throws IOException {
        var file = volume.prepare().root().resolve("open");
        try (var out = Files.newOutputStream(file)) {
            out.write(1);
            assertThrows(Failure.class, () -> DataVolume.unmount(data));
        }
        assertEquals(1, mounts().size());
        assertTrue(Files.exists(file));
    }

    @Test
    void aVolumeLargerThanTheFreeSpaceIsRefusedAndNothingIsLeft() throws IOException {
        var free = Files.getFileStore(temporary).getUsableSpace();
        assertRefused(new Size(free + (1L << 30)), "free space");
    }

    @Test
    void aVolumeTooSmallForMachinesIsRefusedAndNothingIsLeft() throws IOException {
        assertRefused(Size.ofMib(4095), "4096 MiB");
    }

    @Test
    void anImageThatWasNotFinishedIsMadeAnew() throws IOException {
        Files.createDirectories(data);
        Files.writeString(data.resolve("volume.xfs.tmp"), "half an image");
        assertTrue(volume.reflink().worksIn(volume.prepare().root()));
        assertEquals(TestVolume.SIZE.bytes(), Files.size(data.resolve("volume.xfs")));
        assertFalse(Files.exists(data.resolve("volume.xfs.tmp")));
    }

    @Test
    void aDataDirectoryThatCanShareBlocksNeedsNoImage() throws IOException {
        var inner = volume.prepare().root().resolve("inner");
        var direct = DataVolume.prepare(inner, Optional.of(TestVolume.SIZE), volume.reflink());
        assertEquals(inner.resolve("volume"), direct.root());
        assertFalse(Files.exists(inner.resolve("volume.xfs")));
        assertEquals(1, mounts().size());
    }

    private void assertRefused(Size size, String why) throws IOException {
        var failure =
                assertThrows(
                        Failure.class,
                        () -> DataVolume.prepare(data, Optional.of(size), volume.reflink()));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains(why), failure.getMessage());
        assertEquals(List.of(), mounts());
        try (var files = Files.list(data)) {
            assertEquals(List.of(data.resolve("volume")), files.toList());
        }
    }

    /// The mounts below the data directory, with their devices.
    private List<String> mounts() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/mountinfo"))) {
            return lines.filter(line -> line.contains(" " + data + "/")).toList();
        }
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
