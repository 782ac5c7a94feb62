package coppice.guest;

/// Bytes on their way, first in, first out, at most `limit` of them. Takes memory as it fills and gives it back when it is empty.
final class Ring {
    /// So much memory is kept even when it is empty.
    private static final int IDLE = 64 * 1024;

    private static final byte[] NONE = new byte[0];

    private final int limit;
    private byte[] bytes;
    private int start;
    private int size;

    Ring(int limit) {
        this(limit, NONE, 0);
    }

    private Ring(int limit, byte[] bytes, int size) {
        this.limit = limit;
        this.bytes = bytes;
        this.size = size;
    }

    /// Full from the start. The array is neither copied nor changed.
    static Ring of(byte[] bytes) {
        return new Ring(bytes.length, bytes, bytes.length);
    }

    int size() {
        return size;
    }

    int room() {
        return limit - size;
    }

    void put(byte[] source, int from, int length) {
        if (length > room()) {
            throw new IllegalStateException("%d bytes have no room".formatted(length));
        }
        if (size + length > bytes.length) {
            grow(size + length);
        }
        int end = wrapped(start + size);
        int first = Math.min(length, bytes.length - end);
        System.arraycopy(source, from, bytes, end, first);
        System.arraycopy(source, from + first, bytes, 0, length - first);
        size += length;
    }

    /// Moves out at most `length` bytes, and returns how many.
    int take(byte[] into, int at, int length) {
        int count = Math.min(length, size);
        copy(into, at, count);
        drop(count);
        return count;
    }

    /// Forgets the first `length` bytes.
    void drop(int length) {
        start = wrapped(start + length);
        size -= length;
        release();
    }

    /// Puts the bytes before all others.
    void putBack(byte[] first) {
        var rest = copy();
        drop(size);
        put(first, 0, first.length);
        put(rest, 0, rest.length);
    }

    private void release() {
        if (size == 0) {
            start = 0;
            bytes = bytes.length > IDLE ? NONE : bytes;
        }
    }

    byte[] copy() {
        var copy = new byte[size];
        copy(copy, 0, size);
        return copy;
    }

    private void copy(byte[] into, int at, int length) {
        int first = Math.min(length, bytes.length - start);
        System.arraycopy(bytes, start, into, at, first);
        System.arraycopy(bytes, 0, into, at + first, length - first);
    }

    private void grow(int wanted) {
        var larger = new byte[(int) Math.min(limit, Math.max(wanted, 2L * bytes.length))];
        copy(larger, 0, size);
        bytes = larger;
        start = 0;
    }

    private int wrapped(int index) {
        return index >= bytes.length ? index - bytes.length : index;
    }
}
