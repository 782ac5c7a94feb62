package coppice.disk;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.base.Size;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// A small data volume in a directory of a test, unmounted in the end whatever happens. Public for the tests of other packages.
public record TestVolume(Path dataDirectory, Reflink reflink) implements AutoCloseable {
    static final Size SIZE = Size.ofMib(4096);

    /// Skips the test where no volume can be mounted.
    public static TestVolume in(Path directory) throws IOException {
        assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "skipped: mounting a volume needs root");
        assumeTrue(Files.exists(Path.of("/dev/loop-control")), "skipped: no loop devices here");
        assumeTrue(
                Command.of("sh", "-c", "command -v mkfs.xfs").run(soon()).status() == 0,
                "skipped: mkfs.xfs (package xfsprogs) is not installed");
        return new TestVolume(directory, new Reflink());
    }

    public DataVolume prepare() {
        return DataVolume.prepare(dataDirectory, Optional.of(SIZE), reflink);
    }

    static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }

    @Override
    public void close() {
        reflink.close();
        DataVolume.unmount(dataDirectory);
    }
}
