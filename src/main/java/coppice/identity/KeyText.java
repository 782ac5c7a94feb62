package coppice.identity;

import coppice.base.RandomText;
import coppice.base.Secret;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/// A whole API key: `<keyId>-<secret>`, 20 of `[a-z0-9]` and 43 of `[A-Za-z0-9]`.
record KeyText(ApiKeyId id, Secret secret) {
    private static final int SECRET_LENGTH = 43;
    private static final Pattern FORM = Pattern.compile("[a-z0-9]{20}-[A-Za-z0-9]{43}");

    static KeyText random() {
        return new KeyText(ApiKeyId.random(), new Secret(RandomText.secret(SECRET_LENGTH)));
    }

    static Optional<KeyText> parse(String text) {
        return FORM.matcher(text).matches()
                ? Optional.of(
                        new KeyText(
                                new ApiKeyId(text.substring(0, ApiKeyId.LENGTH)),
                                new Secret(text.substring(ApiKeyId.LENGTH + 1))))
                : Optional.empty();
    }

    Secret bearer() {
        return new Secret(id + "-" + secret.reveal());
    }

    /// The secret has 256 bits of chance, so a plain hash is enough: there is nothing to guess slowly.
    String secretHash() {
        return HexFormat.of().formatHex(sha256(secret.reveal()));
    }

    boolean hasSecretHash(String stored) {
        return MessageDigest.isEqual(
                secretHash().getBytes(StandardCharsets.US_ASCII),
                stored.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
