package coppice.guest;

import java.net.ProtocolException;
import java.util.Arrays;

/// The receiving end of one output channel of a command: what came so far, over all connections, and how much more may come.
/// Not thread-safe: guarded by the lock of the [Call] that feeds it, one at a time.
final class Inlet {
    /// The credit that each channel starts with, as HELLO states it.
    static final int WINDOW = 256 * 1024;

    private final int limit;
    private byte[] kept = new byte[0];
    private int size;
    private long allowed;
    private long announced;
    private boolean ended;

    Inlet(int limit) {
        this.limit = limit;
    }

    /// A new stream goes on from here. Its credit is `WINDOW` from the start of the channel, so more must be said to go on past it.
    void restart() {
        allowed = (long) size + WINDOW;
        announced = WINDOW;
        ended = false;
    }

    void accept(long offset, byte[] source, int from) throws ProtocolException {
        int length = source.length - from;
        if (ended || offset != size) {
            throw new ProtocolException(
                    "data came for offset %d instead of %d".formatted(offset, size));
        }
        if (offset + length > Math.min(allowed, limit)) {
            throw new ProtocolException("more data came than was asked for");
        }
        if (size + length > kept.length) {
            kept =
                    Arrays.copyOf(
                            kept, (int) Math.min(limit, Math.max(size + length, 2L * kept.length)));
        }
        System.arraycopy(source, from, kept, size, length);
        size += length;
        if (allowed < limit && size + WINDOW - allowed >= WINDOW / 2) {
            allowed = (long) size + WINDOW;
        }
    }

    void end(long length) throws ProtocolException {
        if (ended || length != size) {
            throw new ProtocolException("the end came at %d instead of %d".formatted(length, size));
        }
        ended = true;
    }

    boolean owesCredit() {
        return allowed > announced && !ended && size < limit;
    }

    /// The credit to announce now.
    long credit() {
        announced = allowed;
        return allowed;
    }

    boolean hasEnded() {
        return ended;
    }

    int size() {
        return size;
    }

    byte[] bytes() {
        return Arrays.copyOf(kept, size);
    }
}
