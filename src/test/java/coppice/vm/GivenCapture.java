package coppice.vm;

import coppice.base.Size;
import coppice.qemu.AnyShape;
import coppice.qemu.Hypervisor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.UUID;

/// Captures that were never a machine, and take no room.
final class GivenCapture {
    private final Random random;

    GivenCapture(Random random) {
        this.random = random;
    }

    /// A whole one in a directory that does not exist yet.
    Capture write(Path directory) {
        try {
            Files.createDirectories(directory);
            Files.write(directory.resolve(Capture.DEVICES), new byte[] {1, 2, 3});
            for (var name : new String[] {"vmlinuz", "initrd", "command-line"}) {
                Files.writeString(directory.resolve(name), name);
            }
            var capture =
                    new Capture(
                            UUID.randomUUID(),
                            AnyShape.of(random),
                            Size.ofMib(random.nextInt(1, 100_000)),
                            new Hypervisor("tcg", "10.0.2", "max"),
                            Capture.digestOf(directory.resolve(Capture.DEVICES)));
            setLength(directory.resolve(Capture.RAM), capture.shape().totalMemory());
            setLength(directory.resolve(Capture.DISK), capture.storage());
            capture.write(directory);
            return capture;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void setLength(Path path, Size size) throws IOException {
        try (var file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(size.bytes());
        }
    }
}
