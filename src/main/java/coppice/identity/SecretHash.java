package coppice.identity;

import coppice.base.RandomText;
import coppice.base.Secret;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// What is stored of a secret. It has 256 bits of chance, so a plain hash is enough: there is nothing to guess slowly.
///
/// @param text SHA-256 in hexadecimal
record SecretHash(String text) {
    static final int SECRET_LENGTH = 43;

    /// A new secret: 43 of `[A-Za-z0-9]`.
    static Secret secret() {
        return new Secret(RandomText.secret(SECRET_LENGTH));
    }

    static SecretHash of(Secret secret) {
        try {
            var bytes = secret.reveal().getBytes(StandardCharsets.US_ASCII);
            var digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return new SecretHash(HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    /// Takes the same time wherever they differ.
    boolean isOf(Secret secret) {
        return MessageDigest.isEqual(bytes(), of(secret).bytes());
    }

    private byte[] bytes() {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
