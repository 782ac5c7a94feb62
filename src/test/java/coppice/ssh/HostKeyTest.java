package coppice.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostKeyTest {
    @TempDir private Path directory;
    private Path file;

    @BeforeEach
    void inADirectoryWithoutOne() {
        file = directory.resolve("key");
    }

    @Test
    void theKeyIsMadeOnceAndReadFromThenOn() throws IOException {
        var made = HostKey.of(file);
        var text = Files.readAllBytes(file);
        assertEquals("ssh-ed25519", KeyUtils.getKeyType(made.getPublic()));
        assertEquals(
                KeyUtils.getFingerPrint(made.getPublic()),
                KeyUtils.getFingerPrint(HostKey.of(file).getPublic()));
        assertArrayEquals(text, Files.readAllBytes(file));
        assertEquals(
                PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(file));
    }

    @Test
    void aKeyThatOthersMayReadIsNotUsed() throws IOException {
        HostKey.of(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        var why = assertThrows(Failure.class, () -> HostKey.of(file));
        assertTrue(why.getMessage().contains("chmod 600"), why.getMessage());
    }

    @Test
    void whatIsNoKeyIsNotReplaced() throws IOException {
        Files.createFile(
                file,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, "no key\n");
        assertThrows(Failure.class, () -> HostKey.of(file));
        assertEquals("no key\n", Files.readString(file));
    }
}
