package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.KeyFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import org.apache.sshd.common.NamedResource;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.util.security.SecurityUtils;

/// The key by which clients know this server again: Ed25519, in the file format of OpenSSH.
final class HostKey {
    private static final int BITS = 256;

    private HostKey() {}

    /// Reads the file, or makes it whole or not at all. Only one server has its directory.
    static KeyPair of(Path file) {
        try {
            return parse(KeyFile.read(file, HostKey::random), file);
        } catch (IOException | GeneralSecurityException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the SSH host key %s cannot be read or made; put it back from a copy, or delete it and have clients accept another"
                            .formatted(file),
                    e);
        }
    }

    private static byte[] random() throws IOException, GeneralSecurityException {
        var text = new ByteArrayOutputStream();
        OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(
                KeyUtils.generateKeyPair("ssh-ed25519", BITS), "coppice", null, text);
        return text.toByteArray();
    }

    private static KeyPair parse(byte[] bytes, Path file)
            throws IOException, GeneralSecurityException {
        var keys =
                SecurityUtils.loadKeyPairIdentities(
                        null,
                        NamedResource.ofName(file.toString()),
                        new ByteArrayInputStream(bytes),
                        null);
        if (keys == null || !keys.iterator().hasNext()) {
            throw new IOException("there is no key in it");
        }
        return keys.iterator().next();
    }
}
