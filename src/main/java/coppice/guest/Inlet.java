package coppice.guest;

import java.net.ProtocolException;

/// The receiving end of one channel: what came and was not taken yet, and how much more may come. Not thread-safe: guarded by the
/// monitor of the [Request] of the [Call] that feeds it, one at a time.
final class Inlet {
    /// The credit that each channel starts with, as HELLO states it.
    static final int WINDOW = 256 * 1024;

    /// How much may come beyond a window, byte by byte, of what has to keep moving.
    private static final int SPARE = 64 * 1024;

    private final Ring here;
    private final boolean isDrained;
    private long limit;
    private long size;
    private long allowed = WINDOW;
    private long announced = WINDOW;
    private boolean ended;

    private Inlet(Ring here, boolean isDrained, long limit) {
        this.here = here;
        this.isDrained = isDrained;
        this.limit = limit;
    }

    /// Keeps all that comes, over all connections; more than `limit` bytes are a breach.
    static Inlet keeping(int limit) {
        return new Inlet(new Ring(limit), false, limit);
    }

    /// Holds a window at most: more may come only when somebody took what is here.
    static Inlet drained() {
        return new Inlet(new Ring(WINDOW + SPARE), true, Long.MAX_VALUE);
    }

    /// A new stream goes on from here. Its credit is `WINDOW` from the start of the channel, so more must be said to go on past it. What is
    /// drained and was not taken yet is asked for again, or more could come than there is room for.
    void restart() {
        if (isDrained) {
            size -= here.size();
            here.drop(here.size());
        }
        allowed = size + WINDOW;
        announced = WINDOW;
        ended = false;
    }

    void accept(long offset, byte[] source, int from) throws ProtocolException {
        int length = source.length - from;
        if (ended || offset != size) {
            throw new ProtocolException(
                    "data came for offset %d instead of %d".formatted(offset, size));
        }
        // Not offset + length: a sum may be beyond 2^63.
        if (length > Math.min(allowed, limit) - offset) {
            throw new ProtocolException("more data came than was asked for");
        }
        here.put(source, from, length);
        size += length;
        allow();
    }

    void end(long length) throws ProtocolException {
        if (ended || length != size) {
            throw new ProtocolException("the end came at %d instead of %d".formatted(length, size));
        }
        ended = true;
    }

    /// Moves out at most `length` bytes of what is here, and returns how many.
    int take(byte[] into, int at, int length) {
        int count = here.take(into, at, length);
        allow();
        return count;
    }

    /// Lets one more byte come although nothing was taken, as long as there is spare room.
    ///
    /// @return whether there was
    boolean nudge() {
        boolean hasRoom = allowed - size < here.room();
        allowed += hasRoom ? 1 : 0;
        return hasRoom;
    }

    /// No more than this may come in all.
    void limit(long length) throws ProtocolException {
        limit = length;
        if (size > limit) {
            throw new ProtocolException("more data came than was asked for");
        }
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

    /// How much came so far.
    long size() {
        return size;
    }

    /// How much is here.
    int available() {
        return here.size();
    }

    byte[] bytes() {
        return here.copy();
    }

    private void allow() {
        long done = isDrained ? size - here.size() : size;
        if (allowed < limit && done + WINDOW - allowed >= WINDOW / 2) {
            allowed = done + WINDOW;
        }
    }
}
