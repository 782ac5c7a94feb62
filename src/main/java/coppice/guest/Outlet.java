package coppice.guest;

import java.util.Optional;

/// The sending end of channel 0: what was put into it and is still to be sent, and how much of it the agent takes now. Not
/// thread-safe: guarded by the lock of its [Call].
final class Outlet {
    private final Ring unsent;
    private long sent;
    private long credit;
    private boolean complete;
    private boolean ended;

    private Outlet(Ring unsent, boolean complete) {
        this.unsent = unsent;
        this.complete = complete;
    }

    static Outlet of(byte[] whole) {
        return new Outlet(Ring.of(whole), true);
    }

    /// Is fed while it sends; at most `limit` bytes wait in it.
    static Outlet fed(int limit) {
        return new Outlet(new Ring(limit), false);
    }

    int room() {
        return unsent.room();
    }

    void put(byte[] source, int from, int length) {
        if (complete) {
            throw new IllegalStateException("it is complete");
        }
        unsent.put(source, from, length);
    }

    /// Nothing more will be put: END follows the last byte.
    void complete() {
        complete = true;
    }

    /// The agent takes bytes up to this offset. Never lowers what it took before.
    void allow(long offset) {
        credit = Math.max(credit, offset);
    }

    boolean hasMore() {
        return !ended && (unsent.size() == 0 ? complete : sent < credit);
    }

    /// END was sent, and with it everything.
    boolean hasEnded() {
        return ended;
    }

    Optional<Frame> next(int stream) {
        if (!hasMore()) {
            return Optional.empty();
        }
        if (unsent.size() == 0) {
            ended = true;
            return Optional.of(Frame.offset(FrameKind.END, stream, 0, sent));
        }
        int before = unsent.size();
        var frame = Frame.data(stream, 0, sent, unsent, credit - sent);
        sent += before - unsent.size();
        return Optional.of(frame);
    }
}
