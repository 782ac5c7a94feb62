package coppice.main;

import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/// Bytes that follow from their key: any part of them is made anew whenever it is needed, so that a file of any size is never held.
record KnownBytes(long key, long size) {
    private static final int PIECE = 64 << 10;
    private static final long STEP = 0x9E3779B97F4A7C15L;

    /// The bytes from `at` on. They may go beyond the size: who asks knows it.
    void fill(long at, byte[] into, int from, int length) {
        for (int i = 0; i < length; ) {
            long position = at + i;
            long word = mixed(key + (position >>> 3) * STEP);
            for (int shift = 8 * (int) (position & 7); shift < 64 && i < length; shift += 8, i++) {
                into[from + i] = (byte) (word >>> shift);
            }
        }
    }

    /// The mixing of SplitMix64.
    private static long mixed(long seed) {
        long word = (seed ^ seed >>> 30) * 0xBF58476D1CE4E5B9L;
        word = (word ^ word >>> 27) * 0x94D049BB133111EBL;
        return word ^ word >>> 31;
    }

    byte[] part(long at, int length) {
        var bytes = new byte[length];
        fill(at, bytes, 0, length);
        return bytes;
    }

    byte[] all() {
        return part(0, Math.toIntExact(size));
    }

    /// As many bytes, each a visible character or a blank, with all that JSON has to escape.
    byte[] text() {
        var bytes = all();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (' ' + (bytes[i] & 63));
        }
        return bytes;
    }

    /// Whether these are the bytes from `at` on.
    boolean has(long at, byte[] bytes, int length) {
        return length <= size - at && Arrays.equals(part(at, length), 0, length, bytes, 0, length);
    }

    InputStream stream() {
        return new InputStream() {
            private long at;

            @Override
            public int read() {
                var one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int from, int length) {
                int count = (int) Math.min(length, size - at);
                fill(at, into, from, count);
                at += count;
                return count == 0 && length > 0 ? -1 : count;
            }
        };
    }

    String sha256() {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            for (long at = 0; at < size; at += PIECE) {
                digest.update(part(at, (int) Math.min(PIECE, size - at)));
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return "%d bytes of key %x".formatted(size, key);
    }
}
