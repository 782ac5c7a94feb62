package coppice.main;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/// All that a terminal was made to say: numbers, each of them once and the later the larger, so that every line tells where it stands.
final class Said {
    private final List<Piece> pieces = new ArrayList<>();
    private long size;

    private record Piece(long start, Numbers numbers, long length) {}

    /// @param length a multiple of a line
    void add(Numbers numbers, long length) {
        pieces.add(new Piece(size, numbers, length));
        size += length;
    }

    long size() {
        return size;
    }

    /// The first number that was not said.
    int next() {
        var last = pieces.getLast();
        return last.numbers().from() + (int) (last.length() / Numbers.LINE);
    }

    /// Where the line with this number begins.
    long positionOf(int number) {
        var piece =
                pieces.stream()
                        .filter(one -> one.numbers().from() <= number)
                        .reduce((_, later) -> later)
                        .orElseThrow();
        return piece.start() + (long) (number - piece.numbers().from()) * Numbers.LINE;
    }

    byte[] part(long at, int length) {
        var bytes = new ByteArrayOutputStream();
        for (var piece : pieces) {
            long from = Math.max(at, piece.start());
            long to = Math.min(at + length, piece.start() + piece.length());
            if (from < to) {
                bytes.writeBytes(piece.numbers().part(from - piece.start(), (int) (to - from)));
            }
        }
        return bytes.toByteArray();
    }
}
