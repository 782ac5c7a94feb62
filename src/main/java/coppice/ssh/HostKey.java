package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.Set;
import org.apache.sshd.common.NamedResource;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.util.security.SecurityUtils;

/// The key by which clients know this server again: Ed25519, in the file format of OpenSSH.
final class HostKey {
    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OF_OTHERS =
            PosixFilePermissions.fromString("---rwxrwx");
    private static final int BITS = 256;

    private HostKey() {}

    /// Reads the file, or makes it whole or not at all. Only one server has its directory.
    static KeyPair of(Path file) {
        try {
            if (Files.notExists(file)) {
                create(file);
            }
            requireOwn(file);
            return read(file);
        } catch (IOException | GeneralSecurityException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the SSH host key %s cannot be read or made; put it back from a copy, or delete it and have clients accept another"
                            .formatted(file),
                    e);
        }
    }

    private static void create(Path file) throws IOException, GeneralSecurityException {
        var unfinished = file.resolveSibling(file.getFileName() + ".tmp");
        Files.deleteIfExists(unfinished);
        Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        var text = new ByteArrayOutputStream();
        OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(
                KeyUtils.generateKeyPair("ssh-ed25519", BITS), "coppice", null, text);
        Files.write(unfinished, text.toByteArray());
        sync(unfinished);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        sync(file.toAbsolutePath().getParent());
    }

    private static void sync(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static void requireOwn(Path file) throws IOException {
        var shared = Files.getPosixFilePermissions(file);
        shared.retainAll(OF_OTHERS);
        if (!shared.isEmpty()) {
            throw new Failure(
                    Code.CONFLICT,
                    "others may read the key %s; run 'chmod 600' on it, and make a new one if anybody did"
                            .formatted(file));
        }
    }

    private static KeyPair read(Path file) throws IOException, GeneralSecurityException {
        var keys =
                SecurityUtils.loadKeyPairIdentities(
                        null,
                        NamedResource.ofName(file.toString()),
                        new ByteArrayInputStream(Files.readAllBytes(file)),
                        null);
        if (keys == null || !keys.iterator().hasNext()) {
            throw new IOException("there is no key in it");
        }
        return keys.iterator().next();
    }
}
