package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// The key pair that is this server's end of every tunnel. The private key is in a file that only its owner may read, in the form of
/// `wg genkey`: whoever has it can pose as this server, and without it all clients need new configurations.
public final class ServerKey {
    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OF_OTHERS =
            PosixFilePermissions.fromString("---rwxrwx");

    private final KeyPair keys;

    /// Reads the file, or makes it whole or not at all. Only one server has its directory.
    public ServerKey(Path file) {
        try {
            if (Files.notExists(file)) {
                create(file);
            }
            keys = read(file);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the key %s cannot be read or made".formatted(file), e);
        }
    }

    public PublicKey publicKey() {
        return keys.publicKey();
    }

    public Secret privateKey() {
        return keys.privateKey();
    }

    private static void create(Path file) throws IOException {
        var unfinished = file.resolveSibling(file.getFileName() + ".tmp");
        Files.deleteIfExists(unfinished);
        Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        Files.writeString(unfinished, KeyPair.random().privateKey().reveal() + "\n");
        sync(unfinished);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        sync(file.toAbsolutePath().getParent());
    }

    private static void sync(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static KeyPair read(Path file) throws IOException {
        var shared = Files.getPosixFilePermissions(file);
        shared.retainAll(OF_OTHERS);
        if (!shared.isEmpty()) {
            throw new Failure(
                    Code.CONFLICT,
                    "others may read the key %s; run 'chmod 600' on it, and make a new one if anybody did"
                            .formatted(file));
        }
        var text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).strip();
        if (!PublicKey.isKey(text)) {
            throw new Failure(
                    Code.CONFLICT,
                    "there is no key in %s; put it back from a copy, or delete it: then all clients of tunnels need new configurations"
                            .formatted(file));
        }
        return KeyPair.of(text);
    }
}
