package coppice.identity;

import coppice.base.RandomText;
import coppice.base.Secret;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.text.Normalizer;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/// What is stored of a password, which may be easy to guess: PBKDF2 with HMAC-SHA-256, slow on purpose.
///
/// @param text `pbkdf2-sha256$<iterations>$<salt>$<hash>`, the last two in Base64, so that a later program can ask more of new passwords
public record PasswordHash(String text) {
    private static final String ALGORITHM = "pbkdf2-sha256";
    private static final int HASH_BYTES = 32;
    private static final int SALT_BYTES = 16;

    /// How often a new password is hashed.
    static final int ITERATIONS = 600_000;

    /// Takes the time of one check. The password's form is for [Passwords#parse] to check.
    public static PasswordHash of(Secret password) {
        return of(password, ITERATIONS);
    }

    static PasswordHash of(Secret password, int iterations) {
        var salt = RandomText.bytes(SALT_BYTES);
        return put(iterations, salt, derive(password, salt, iterations));
    }

    /// One that no password has, and that takes as long to check as any.
    static PasswordHash ofNothing(int iterations) {
        return put(iterations, RandomText.bytes(SALT_BYTES), RandomText.bytes(HASH_BYTES));
    }

    /// Takes the same time wherever they differ.
    boolean isOf(Secret password) {
        var parts = text.split("\\$");
        var salt = Base64.getDecoder().decode(parts[2]);
        var wanted = Base64.getDecoder().decode(parts[3]);
        return MessageDigest.isEqual(wanted, derive(password, salt, Integer.parseInt(parts[1])));
    }

    private static PasswordHash put(int iterations, byte[] salt, byte[] hash) {
        var base64 = Base64.getEncoder();
        return new PasswordHash(
                "%s$%d$%s$%s"
                        .formatted(
                                ALGORITHM,
                                iterations,
                                base64.encodeToString(salt),
                                base64.encodeToString(hash)));
    }

    /// The same letters can be typed as different characters: they are brought into one form first.
    private static byte[] derive(Secret password, byte[] salt, int iterations) {
        var typed = Normalizer.normalize(password.reveal(), Normalizer.Form.NFC).toCharArray();
        var spec = new PBEKeySpec(typed, salt, iterations, HASH_BYTES * Byte.SIZE);
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(spec)
                    .getEncoded();
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK has PBKDF2 with SHA-256", e);
        } finally {
            spec.clearPassword();
        }
    }

    @Override
    public String toString() {
        return "***";
    }
}
