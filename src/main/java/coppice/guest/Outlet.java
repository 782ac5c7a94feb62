package coppice.guest;

import java.util.Optional;

/// The sending end of channel 0: what was put into it and is still to be sent, and how much of it the agent takes now. Not
/// thread-safe: guarded by the monitor of its [Request].
///
/// One that is *lasting* goes on over several connections: what was sent stays in it until the agent says that it was taken, and is sent
/// again on the next one, which begins there.
final class Outlet {
    private final Ring unsent;
    private final Optional<Ring> untaken;
    private long window;
    private long sent;
    private long credit;
    private boolean complete;
    private boolean ended;

    private Outlet(Ring unsent, Optional<Ring> untaken, boolean complete) {
        this.unsent = unsent;
        this.untaken = untaken;
        this.complete = complete;
    }

    static Outlet of(byte[] whole) {
        return new Outlet(Ring.of(whole), Optional.empty(), true);
    }

    /// Is fed while it sends; at most `limit` bytes wait in it.
    static Outlet fed(int limit) {
        return new Outlet(new Ring(limit), Optional.empty(), false);
    }

    /// Is fed while it sends, over several connections; at most `limit` bytes wait in it, those included that were sent and not taken yet.
    static Outlet lasting(int limit) {
        return new Outlet(new Ring(limit), Optional.of(new Ring(limit)), false);
    }

    /// A new stream sends what was not taken on the one before.
    void restart() {
        untaken.ifPresent(
                ring -> {
                    var again = ring.copy();
                    ring.drop(again.length);
                    unsent.putBack(again);
                    sent -= again.length;
                    credit = 0;
                    window = 0;
                    ended = false;
                });
    }

    int room() {
        return unsent.room() - untaken.map(Ring::size).orElse(0);
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
        // What a stream may send at first is a window; later it is a window beyond what was taken.
        window = window == 0 ? offset : window;
        untaken.ifPresent(ring -> ring.drop(taken(ring, offset - window)));
    }

    /// How many bytes of those that were sent lie before the offset.
    private int taken(Ring ring, long offset) {
        return Math.clamp(offset - (sent - ring.size()), 0, ring.size());
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
        int length = before - unsent.size();
        sent += length;
        untaken.ifPresent(ring -> ring.put(frame.payload(), Long.BYTES, length));
        return Optional.of(frame);
    }
}
