package coppice.main;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;

/// What was typed, against what came back.
record Echo(byte[] typed) {
    /// So many equal bytes are no chance.
    private static final int ENOUGH = 16;

    /// Fails unless it is what was typed, with at most so many pieces left out.
    void require(byte[] said, int maxGaps) {
        int at = 0;
        int gaps = 0;
        for (int i = 0; i < said.length; i++, at++) {
            if (at >= typed.length || said[i] != typed[at]) {
                at = next(said, i, at);
                gaps++;
            }
        }
        int found = gaps + (at < typed.length ? 1 : 0);
        assertTrue(
                found <= maxGaps,
                () ->
                        "%d of %d bytes came back, with %d gaps; %d are allowed"
                                .formatted(said.length, typed.length, found, maxGaps));
    }

    private int next(byte[] said, int i, int at) {
        int length = Math.min(ENOUGH, said.length - i);
        for (int from = at; from + length <= typed.length; from++) {
            if (Arrays.equals(typed, from, from + length, said, i, i + length)) {
                return from;
            }
        }
        throw new AssertionError(
                "byte %d of %d that came back was not typed, or typed before; the one before it was %d of %d"
                        .formatted(i, said.length, at, typed.length));
    }
}
