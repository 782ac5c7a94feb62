package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.qemu.AnyShape;
import coppice.qemu.Hypervisor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CaptureTest {
    private static final Hypervisor HERE = new Hypervisor("tcg", "10.0.2", "max");

    @TempDir private Path directory;
    private final Random random = Seed.random(CaptureTest.class);
    private Capture written;
    private byte[] devices;

    @BeforeEach
    void write() throws IOException {
        var shape = AnyShape.of(random);
        devices = new byte[500];
        random.nextBytes(devices);
        Files.write(directory.resolve(Capture.DEVICES), devices);
        setRamLength(shape.totalMemory().bytes());
        for (var name : new String[] {"vmlinuz", "initrd", "command-line"}) {
            Files.writeString(directory.resolve(name), name);
        }
        var storage = Size.ofMib(random.nextInt(1, 100_000));
        setLength(Capture.DISK, storage.bytes());
        written =
                new Capture(
                        UUID.randomUUID(),
                        shape,
                        storage,
                        HERE,
                        Capture.digestOf(directory.resolve(Capture.DEVICES)));
        written.write(directory);
    }

    @Test
    void aCaptureIsReadAsItWasWritten() {
        assertEquals(written, Capture.read(directory));
    }

    @Test
    void aDeviceStateWithAnyByteDamagedIsRefused() throws IOException {
        for (int at = 0; at < devices.length; at++) {
            var damaged = devices.clone();
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(directory.resolve(Capture.DEVICES), damaged);
            assertRefused("device state");
        }
        Files.write(directory.resolve(Capture.DEVICES), devices);
        Capture.read(directory);
    }

    @Test
    void aDeviceStateThatWasCutIsRefused() throws IOException {
        for (int length = 0; length < devices.length; length += random.nextInt(1, 20)) {
            Files.write(
                    directory.resolve(Capture.DEVICES), java.util.Arrays.copyOf(devices, length));
            assertRefused("device state");
        }
    }

    @Test
    void aMemoryImageOfAnotherLengthIsRefused() throws IOException {
        long length = written.shape().totalMemory().bytes();
        for (long other : new long[] {0, length - 1, length - 4096, length + 1}) {
            setRamLength(other);
            assertRefused("memory image");
        }
        setRamLength(length);
        Capture.read(directory);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                Capture.RAM,
                Capture.DEVICES,
                Capture.DESCRIPTION,
                Capture.DISK,
                "vmlinuz",
                "initrd"
            })
    void aCaptureThatLacksAFileIsRefused(String name) throws IOException {
        Files.delete(directory.resolve(name));
        assertRefused("missing");
    }

    @Test
    void aDiskThatWasCutIsRefused() throws IOException {
        setLength(Capture.DISK, written.storage().bytes() - 1);
        assertRefused("disk");
    }

    @Test
    void aDescriptionWithAnyBitDamagedIsRefused() throws IOException {
        var description = Files.readAllBytes(directory.resolve(Capture.DESCRIPTION));
        for (int at = 0; at < description.length; at++) {
            var damaged = description.clone();
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(directory.resolve(Capture.DESCRIPTION), damaged);
            if (!meansTheSame(damaged, description)) {
                assertRefused("damaged");
            }
        }
    }

    /// White space between the members may change without changing what is said.
    private static boolean meansTheSame(byte[] one, byte[] other) {
        return new String(one, java.nio.charset.StandardCharsets.ISO_8859_1)
                .replaceAll("\\s", "")
                .equals(
                        new String(other, java.nio.charset.StandardCharsets.ISO_8859_1)
                                .replaceAll("\\s", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {Capture.RAM, Capture.DISK})
    void aFileOfAnotherCaptureIsRefusedHoweverAlikeItIs(String name) throws IOException {
        written.bind(directory);
        assertEquals(written, Capture.read(directory));
        var other =
                new Capture(
                        UUID.randomUUID(),
                        written.shape(),
                        written.storage(),
                        HERE,
                        written.devicesDigest());
        other.write(directory);
        assertRefused("another capture");
        other.bind(directory);
        assertEquals(other, Capture.read(directory));
    }

    @Test
    void aMachineOfAnotherShapeIsRefused() {
        var shape = written.shape();
        assertDoesNotThrow(() -> written.requireRestorable(shape, HERE));
        var grown = shape.withCpus(shape.cpus() == 1 ? shape.maxCpus() : 1);
        if (!grown.equals(shape)) {
            var failure = assertThrows(Failure.class, () -> written.requireRestorable(grown, HERE));
            assertTrue(failure.getMessage().contains("another machine"), failure.getMessage());
        }
    }

    @Test
    void filesOfTwoCapturesAreNotMixed() throws IOException {
        var devicesOfOne = Files.readAllBytes(directory.resolve(Capture.DEVICES));
        write();
        Files.write(directory.resolve(Capture.DEVICES), devicesOfOne);
        assertRefused("device state");
    }

    @Test
    void aMachineGoesOnUnderTheSameHypervisorOnly() {
        assertDoesNotThrow(() -> written.requireRestorable(written.shape(), HERE));
        assertCannotGoOn(new Hypervisor("kvm", "10.0.2", "max"));
        assertCannotGoOn(new Hypervisor("tcg", "10.0.3", "max"));
        assertCannotGoOn(new Hypervisor("tcg", "10.0.2", "EPYC"));
    }

    private void assertCannotGoOn(Hypervisor other) {
        var failure =
                assertThrows(
                        Failure.class, () -> written.requireRestorable(written.shape(), other));
        assertEquals(Code.UNAVAILABLE, failure.code());
        for (var part : new String[] {"10.0.2 (tcg", other.version(), other.processor()}) {
            assertTrue(failure.getMessage().contains(part), failure.getMessage());
        }
    }

    private void assertRefused(String why) {
        var failure = assertThrows(Failure.class, () -> Capture.read(directory));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains(why), failure.getMessage());
    }

    private void setRamLength(long bytes) throws IOException {
        setLength(Capture.RAM, bytes);
    }

    private void setLength(String name, long bytes) throws IOException {
        try (var file = new RandomAccessFile(directory.resolve(name).toFile(), "rw")) {
            file.setLength(bytes);
        }
    }
}
