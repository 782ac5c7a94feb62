package coppice.base;

import java.security.SecureRandom;

/// Random characters for ids and keys, from the system's secure source.
public final class RandomText {
    private static final String LOWER = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final String MIXED = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + LOWER;
    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomText() {}

    /// `prefix` and 20 characters of `[a-z0-9]`: the form of the contract's ids.
    public static String id(String prefix) {
        return prefix + of(LOWER, 20);
    }

    /// `length` characters of `[A-Za-z0-9]`.
    public static String secret(int length) {
        return of(MIXED, length);
    }

    public static byte[] bytes(int length) {
        var bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    private static String of(String alphabet, int length) {
        return RANDOM.ints(length, 0, alphabet.length())
                .collect(
                        StringBuilder::new,
                        (text, i) -> text.append(alphabet.charAt(i)),
                        StringBuilder::append)
                .toString();
    }
}
