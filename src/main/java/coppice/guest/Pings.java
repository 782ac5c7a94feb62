package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// The pings of a connection, both ways. Of the agent's pings only the latest unanswered one is remembered, so that
/// a flood costs nothing.
final class Pings implements Sender {
    private static final int MAX_WAITING = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Long, Slot<Answer>> waiting = new HashMap<>();
    private final ArrayDeque<Long> unsent = new ArrayDeque<>();
    private Optional<byte[]> pong = Optional.empty();
    private long last;

    /// Asks for a ping whose answer will be in the slot.
    long add(Slot<Answer> slot) {
        lock.lock();
        try {
            if (waiting.size() == MAX_WAITING) {
                throw new Failure(
                        Code.RATE_LIMITED, "too many pings of one guest wait for an answer");
            }
            waiting.put(++last, slot);
            unsent.add(last);
            return last;
        } finally {
            lock.unlock();
        }
    }

    void remove(long ping) {
        lock.lock();
        try {
            waiting.remove(ping);
            unsent.remove(ping);
        } finally {
            lock.unlock();
        }
    }

    void receive(Frame frame) throws ProtocolException {
        if (frame.payload().length != Long.BYTES) {
            throw new ProtocolException("a %s has not 8 bytes".formatted(frame.kind()));
        }
        lock.lock();
        try {
            if (frame.kind() == FrameKind.PING) {
                pong = Optional.of(frame.payload());
            } else {
                var slot = waiting.remove(ByteBuffer.wrap(frame.payload()).getLong());
                if (slot != null) {
                    slot.fill(new Answer.Result(Fields.NONE));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    void close(Failure why) {
        lock.lock();
        try {
            waiting.values().forEach(slot -> slot.fill(new Answer.Closed(why)));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Frame> next() {
        lock.lock();
        try {
            var reply = pong.map(payload -> new Frame(FrameKind.PONG, 0, false, 0, payload));
            pong = Optional.empty();
            return reply.or(
                    () ->
                            Optional.ofNullable(unsent.poll())
                                    .map(ping -> Frame.offset(FrameKind.PING, 0, 0, ping)));
        } finally {
            lock.unlock();
        }
    }
}
