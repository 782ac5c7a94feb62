package coppice.base;

import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;

/// Random characters for ids and keys, from the system's secure source.
public final class RandomText {
    private static final String LOWER = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final String MIXED = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + LOWER;
    private static final int BYTES = 256;
    private static final int SPARE = 4;
    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomText() {}

    /// `prefix` and 20 characters of `[a-z0-9]`: the form of the contract's ids.
    public static String id(String prefix) {
        return prefix + of(LOWER, 20);
    }

    /// As [#id], at little cost, for what is only to be told apart: whoever has seen some can guess others.
    public static String mark(String prefix) {
        var text = new StringBuilder(prefix.length() + 20).append(prefix);
        var random = ThreadLocalRandom.current();
        for (int half = 0; half < 2; half++) {
            long chance = random.nextLong() >>> 1; // 36^10 of them are used
            for (int i = 0; i < 10; i++, chance /= LOWER.length()) {
                text.append(LOWER.charAt((int) (chance % LOWER.length())));
            }
        }
        return text.toString();
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

    /// Asks the source once: each time costs as much as many characters.
    private static String of(String alphabet, int length) {
        // The bytes beyond would favour the first characters.
        int fair = BYTES - BYTES % alphabet.length();
        var text = new StringBuilder(length);
        while (text.length() < length) {
            for (byte each : bytes(length + SPARE)) {
                int chance = Byte.toUnsignedInt(each);
                if (chance < fair && text.length() < length) {
                    text.append(alphabet.charAt(chance % alphabet.length()));
                }
            }
        }
        return text.toString();
    }
}
