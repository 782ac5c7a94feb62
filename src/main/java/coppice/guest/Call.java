package coppice.guest;

import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// One request on its stream. *Open* until one of these, after which nothing more is taken from it or sent on it:
/// RESULT or RESET from the agent, the end of the connection, or the caller giving up, which still sends a RESET.
final class Call implements Sender {
    private final int stream;
    private final Request request;
    private final Slot<Answer> answer = new Slot<>();

    private final Monitor monitor;
    private final ReentrantLock lock;
    private int fieldsSent;
    private boolean begun;
    private boolean asked;
    private boolean heard;
    private boolean abandoned;
    private boolean forgotten;

    Call(int stream, Request request, long bodyCredit) {
        this.stream = stream;
        this.request = request;
        this.monitor = request.monitor();
        this.lock = monitor.lock();
        lock.lock();
        try {
            request.body().ifPresent(body -> body.allow(bodyCredit));
        } finally {
            lock.unlock();
        }
    }

    int stream() {
        return stream;
    }

    Slot<Answer> answer() {
        return answer;
    }

    /// The caller gives up: nothing is fed to its inlets from here on.
    void abandon() {
        lock.lock();
        try {
            abandoned = true;
            monitor.tell();
        } finally {
            lock.unlock();
        }
    }

    void close(Failure why) {
        lock.lock();
        try {
            answer.fill(new Answer.Closed(why));
            monitor.tell();
        } finally {
            lock.unlock();
        }
    }

    /// A look at the body and the inlets; empty as long as there is nothing to find.
    interface Look<T> {
        Optional<T> now() throws ProtocolException;
    }

    /// Looks whenever something came or was sent, under the lock, until something is found; empty if the deadline came first.
    <T> Optional<T> await(Look<T> look, Deadline deadline)
            throws ProtocolException, InterruptedException {
        return monitor.await(look, deadline);
    }

    /// Whether a look has left something to send.
    boolean hasMoreToSend() {
        lock.lock();
        try {
            return !answer.isFilled() && !abandoned && hasMore();
        } finally {
            lock.unlock();
        }
    }

    boolean isAbandoned() {
        lock.lock();
        try {
            return abandoned;
        } finally {
            lock.unlock();
        }
    }

    /// Nothing more will come of it at either end.
    boolean isOver() {
        lock.lock();
        try {
            return answer.isFilled() || forgotten;
        } finally {
            lock.unlock();
        }
    }

    /// Whether the agent may have the whole request.
    boolean wasAsked() {
        lock.lock();
        try {
            return asked;
        } finally {
            lock.unlock();
        }
    }

    /// Whether the agent showed that it has taken the request up.
    boolean wasHeard() {
        lock.lock();
        try {
            return heard;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Frame> next() {
        lock.lock();
        try {
            if (answer.isFilled() || forgotten) {
                return Optional.empty();
            }
            if (abandoned) {
                forgotten = true;
                return begun ? Optional.of(reset()) : Optional.empty();
            }
            if (!asked) {
                return Optional.of(nextOpen());
            }
            return nextCredit().or(this::nextOfBody);
        } finally {
            lock.unlock();
        }
    }

    /// Takes a frame of this stream; true if there is now something to send.
    boolean receive(Frame frame) throws ProtocolException {
        lock.lock();
        try {
            if (answer.isFilled()) {
                return false;
            }
            if (abandoned) {
                forgotten |= frame.kind() == FrameKind.RESULT || frame.kind() == FrameKind.RESET;
                return false;
            }
            take(frame);
            monitor.tell();
            return !answer.isFilled() && hasMore();
        } finally {
            lock.unlock();
        }
    }

    private void take(Frame frame) throws ProtocolException {
        switch (frame.kind()) {
            case DATA -> inlet(frame).accept(frame.dataOffset(), frame.payload(), Long.BYTES);
            case END -> inlet(frame).end(frame.offset());
            case CREDIT -> {
                if (frame.channel() != 0) {
                    throw new ProtocolException(
                            "credit came for channel %d".formatted(frame.channel()));
                }
                long offset = frame.offset();
                request.body().ifPresent(body -> body.allow(offset));
            }
            case RESULT -> answer.fill(new Answer.Result(Fields.parse(frame.payload())));
            case RESET -> answer.fill(Answer.Refused.of(Fields.parse(frame.payload())));
            case HELLO, WELCOME, OPEN, PING, PONG ->
                    throw new IllegalStateException("no frame of a stream: " + frame);
        }
        heard |= frame.kind() != FrameKind.RESET;
    }

    private Inlet inlet(Frame frame) throws ProtocolException {
        if (frame.channel() < 1 || frame.channel() > request.inlets().size()) {
            throw new ProtocolException(
                    "%s came on channel %d".formatted(frame.kind(), frame.channel()));
        }
        return request.inlets().get(frame.channel() - 1);
    }

    private boolean hasMore() {
        return request.inlets().stream().anyMatch(Inlet::owesCredit)
                || request.body().filter(Outlet::hasMore).isPresent();
    }

    private Frame nextOpen() {
        int end = Math.min(fieldsSent + Frame.MAX_PAYLOAD, request.fields().length);
        var part = Arrays.copyOfRange(request.fields(), fieldsSent, end);
        fieldsSent = end;
        begun = true;
        asked = end == request.fields().length;
        return new Frame(FrameKind.OPEN, 0, !asked, stream, part);
    }

    private Optional<Frame> nextCredit() {
        for (int i = 0; i < request.inlets().size(); i++) {
            if (request.inlets().get(i).owesCredit()) {
                return Optional.of(
                        Frame.offset(
                                FrameKind.CREDIT, stream, i + 1, request.inlets().get(i).credit()));
            }
        }
        return Optional.empty();
    }

    private Optional<Frame> nextOfBody() {
        var frame = request.body().flatMap(body -> body.next(stream));
        frame.ifPresent(_ -> monitor.tell());
        return frame;
    }

    private Frame reset() {
        var fields =
                new FieldsWriter()
                        .text(Tag.CODE, "ABANDONED")
                        .text(Tag.MESSAGE, "nobody waits for it any more");
        return Frame.fields(FrameKind.RESET, stream, fields.toBytes());
    }
}
