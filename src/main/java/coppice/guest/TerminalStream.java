package coppice.guest;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/// A terminal of a guest that is attached to. One thread at a time reads, any may type. Closing it detaches; the session goes on.
///
/// A window of output waits here at most: whoever does not read is told `TooSlow` once the guest's scrollback has moved on.
public final class TerminalStream implements AutoCloseable {
    private static final int MAX_TYPED = 1 << 20;
    private static final int MAX_DESCRIPTION = 4096;
    private static final int CHUNK = 64 * 1024;

    private final Flow flow;
    private final TerminalRequest request;
    private final Inlet output;
    private final Outlet typed;
    private final TerminalDescription description;
    private final boolean fresh;
    private final AtomicLong offset;

    private TerminalStream(
            Flow flow, TerminalRequest request, Inlet output, Outlet typed, Fields described)
            throws ProtocolException {
        this.flow = flow;
        this.request = request;
        this.output = output;
        this.typed = typed;
        this.description = TerminalDescription.of(described);
        this.fresh = described.has(Tag.FRESH);
        // Half of what a long can hold: so no sum of offsets is beyond 2^63.
        this.offset = new AtomicLong(described.number(Tag.OFFSET, Long.MAX_VALUE / 2));
    }

    static TerminalStream begin(TerminalRequest request, FieldsWriter fields, Deadline deadline) {
        var output = Inlet.drained();
        var described = Inlet.keeping(MAX_DESCRIPTION);
        var typed = Outlet.fed(MAX_TYPED);
        var flow =
                new Flow(
                        request.agent(),
                        new Request(
                                request.operation(),
                                fields.toBytes(),
                                Optional.of(typed),
                                List.of(output, described)),
                        request::refused);
        try {
            var first = flow.require(() -> description(flow, described), deadline);
            return request.agent()
                    .reading(() -> new TerminalStream(flow, request, output, typed, first));
        } catch (RuntimeException e) {
            flow.close();
            throw e;
        }
    }

    /// The session as it was when this was attached.
    public TerminalDescription description() {
        return description;
    }

    /// Whether this has made the session.
    public boolean fresh() {
        return fresh;
    }

    /// Where the next byte to be read stands in all the output of the session.
    public long offset() {
        return offset.get();
    }

    /// The next output, at most 64 KiB; waits until the deadline for it.
    public TerminalOutput read(Deadline deadline) {
        var chunk = flow.await(this::chunk, deadline);
        if (chunk.isEmpty()) {
            return new TerminalOutput.Nothing();
        }
        return chunk.get().length > 0
                ? new TerminalOutput.Bytes(chunk.get())
                : end(flow.answer().orElseThrow());
    }

    /// Lets a little output come although none is read now: a guest goes on waiting for who is behind as long as it sends it something. Not
    /// to be called more often than twice a second. What can come so, a few hours long, is held here.
    public void nudge() {
        var _ = flow.await(() -> Optional.of(output.nudge()), Deadline.in(Duration.ZERO));
    }

    /// Puts what is typed on its way, all of it or nothing, and waits for room, of which there is 1 MiB. Fails with RATE_LIMITED
    /// when the guest has taken too little by the deadline, with PAYLOAD_TOO_LARGE over 1 MiB at once, with UNAVAILABLE when the
    /// connection has ended. To an ended session nothing can be said: it is dropped.
    public void type(byte[] bytes, Deadline deadline) {
        if (bytes.length > MAX_TYPED) {
            throw new Failure(
                    Code.PAYLOAD_TOO_LARGE,
                    "at most %d bytes can be typed at once; send fewer".formatted(MAX_TYPED));
        }
        if (flow.await(() -> typed(bytes), deadline).isEmpty()) {
            throw new Failure(
                    Code.RATE_LIMITED,
                    "terminal %d of %s does not read what is typed; type again when it does"
                            .formatted(description.session(), request.agent().name()));
        }
    }

    @Override
    public void close() {
        flow.close();
    }

    private static Optional<Fields> description(Flow flow, Inlet described)
            throws ProtocolException {
        if (described.hasEnded()) {
            return Optional.of(Fields.parse(described.bytes()));
        }
        flow.requireOngoing();
        return Optional.empty();
    }

    /// Without bytes when there is an answer: nothing more will come.
    private Optional<byte[]> chunk() {
        var bytes = new byte[Math.min(output.available(), CHUNK)];
        offset.addAndGet(output.take(bytes, 0, bytes.length));
        return Optional.of(bytes).filter(_ -> bytes.length > 0 || flow.answer().isPresent());
    }

    private TerminalOutput end(Answer answer) {
        try {
            return ended(answer);
        } catch (ProtocolException e) {
            return new TerminalOutput.Cut(request.agent().connection().breach(e));
        }
    }

    private TerminalOutput ended(Answer answer) throws ProtocolException {
        return switch (answer) {
            case Answer.Result(var fields) -> {
                if (!output.hasEnded()) {
                    throw new ProtocolException("a terminal ended before its output did");
                }
                yield new TerminalOutput.Ended(
                        TerminalEnd.of(fields)
                                .orElseThrow(
                                        () -> new ProtocolException("a terminal ended in no way")));
            }
            case Answer.Closed closed -> new TerminalOutput.Cut(closed.failure());
            case Answer.Refused(var code, _) when code.equals("TOO_SLOW") ->
                    new TerminalOutput.TooSlow();
            case Answer.Refused(var code, _) when code.equals("CLOSED") ->
                    new TerminalOutput.Closed();
            case Answer.Refused refused -> new TerminalOutput.Cut(request.refused(refused));
        };
    }

    private Optional<Boolean> typed(byte[] bytes) {
        var answer = flow.answer();
        if (answer.isPresent()) {
            if (answer.get() instanceof Answer.Closed closed) {
                throw closed.failure();
            }
            return Optional.of(true);
        }
        if (typed.room() < bytes.length) {
            return Optional.empty();
        }
        typed.put(bytes, 0, bytes.length);
        return Optional.of(true);
    }
}
