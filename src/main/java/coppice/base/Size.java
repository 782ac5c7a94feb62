package coppice.base;

/// An amount of memory or storage. The contract counts in MiB.
public record Size(long bytes) implements Comparable<Size> {
    private static final long MIB = 1 << 20;

    public Size {
        if (bytes < 0) {
            throw new IllegalArgumentException("a size cannot be negative: " + bytes);
        }
    }

    public static Size ofMib(long mib) {
        return new Size(Math.multiplyExact(mib, MIB));
    }

    /// Whole MiB, rounded down.
    public long mib() {
        return bytes / MIB;
    }

    public Size plus(Size other) {
        return new Size(Math.addExact(bytes, other.bytes));
    }

    public Size minus(Size other) {
        return new Size(bytes - other.bytes);
    }

    @Override
    public int compareTo(Size other) {
        return Long.compare(bytes, other.bytes);
    }

    @Override
    public String toString() {
        return mib() + " MiB";
    }
}
