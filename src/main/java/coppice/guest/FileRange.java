package coppice.guest;

import java.util.OptionalLong;

/// Which bytes of a file: from `offset` on, at most `length` of them, or up to the end.
public record FileRange(long offset, OptionalLong length) {
    public static final FileRange WHOLE = new FileRange(0, OptionalLong.empty());

    public FileRange {
        if (offset < 0 || length.orElse(0) < 0) {
            throw new IllegalArgumentException("a range has no negative numbers");
        }
    }

    /// How many bytes it has of a file of this size.
    long within(long size) {
        long there = Math.max(0, size - offset);
        return Math.min(there, length.orElse(there));
    }
}
