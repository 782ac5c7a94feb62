package coppice.vm;

/// Which bytes of a file are wanted. Positions count from 0.
public sealed interface FilePart {
    record Whole() implements FilePart {}

    /// From `first` to `last`, both included, or to the end where that comes before.
    record Between(long first, long last) implements FilePart {
        public Between {
            if (first < 0 || last < first) {
                throw new IllegalArgumentException(
                        "no bytes are between " + first + " and " + last);
            }
        }
    }

    /// So many at the end, or all where there are fewer.
    record Last(long count) implements FilePart {
        public Last {
            if (count < 0) {
                throw new IllegalArgumentException("a file has no negative count of bytes");
            }
        }
    }
}
