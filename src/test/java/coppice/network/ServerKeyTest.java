package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerKeyTest {
    @TempDir private Path directory;
    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("wireguard.key");
    }

    @Test
    void theKeyIsMadeOnceAndFoundAgain() throws IOException {
        var made = new ServerKey(file);
        var found = new ServerKey(file);
        assertEquals(made.publicKey(), found.publicKey());
        assertEquals(made.privateKey().reveal(), found.privateKey().reveal());
        assertEquals(made.publicKey(), KeyPair.of(found.privateKey().reveal()).publicKey());
        try (var files = Files.list(directory)) {
            assertEquals(List.of(file), files.toList());
        }
    }

    @Test
    void eachDirectoryHasAKeyOfItsOwn() {
        assertNotEquals(
                new ServerKey(file).publicKey(),
                new ServerKey(directory.resolve("other.key")).publicKey());
    }

    @Test
    void theFileIsOneLineThatOnlyItsOwnerMayRead() throws IOException {
        var key = new ServerKey(file);
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(key.privateKey().reveal() + "\n", Files.readString(file));
    }

    @Test
    void whatADeadServerLeftUnfinishedIsNoKey() throws IOException {
        Files.writeString(directory.resolve("wireguard.key.tmp"), "gI6EdUSYvn8ugXOt8QQD6Yc+Jyi");
        var key = new ServerKey(file);
        assertEquals(key.publicKey(), new ServerKey(file).publicKey());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r--r--", "rw-r-----", "rw-----w-", "rwx-----x"})
    void aKeyThatOthersMayReadOrChangeIsRefused(String rights) throws IOException {
        new ServerKey(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
        var refused = assertThrows(Failure.class, () -> new ServerKey(file));
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "secret-but-no-key", "gI6EdUSYvn8ugXOt8QQD6Yc+Jyi"})
    void whatIsNoKeyIsRefusedWithoutShowingIt(String text) throws IOException {
        new ServerKey(file);
        Files.writeString(file, text);
        var refused = assertThrows(Failure.class, () -> new ServerKey(file));
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
        assertTrue(text.isBlank() || !refused.getMessage().contains(text));
        assertEquals(text, Files.readString(file));
    }

    @Test
    void aDirectoryThatIsNotThereIsAFailureThatNamesTheFile() {
        var nowhere = directory.resolve("missing/wireguard.key");
        var refused = assertThrows(Failure.class, () -> new ServerKey(nowhere));
        assertTrue(refused.getMessage().contains(nowhere.toString()), refused.getMessage());
    }
}
