package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.KeyFile;
import coppice.base.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// The key pair that is this server's end of every tunnel. The private key is in a file that only its owner may read, in the form of
/// `wg genkey`: whoever has it can pose as this server, and without it all clients need new configurations.
public final class ServerKey {
    private final KeyPair keys;

    /// Reads the file, or makes it whole or not at all. Only one server has its directory.
    public ServerKey(Path file) {
        try {
            keys = parse(KeyFile.read(file, ServerKey::random), file);
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

    private static byte[] random() {
        return (KeyPair.random().privateKey().reveal() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static KeyPair parse(byte[] bytes, Path file) {
        var text = new String(bytes, StandardCharsets.ISO_8859_1).strip();
        if (!PublicKey.isKey(text)) {
            throw new Failure(
                    Code.CONFLICT,
                    "there is no key in %s; put it back from a copy, or delete it: then all clients of tunnels need new configurations"
                            .formatted(file));
        }
        return KeyPair.of(text);
    }
}
