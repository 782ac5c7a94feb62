package coppice.guest;

import coppice.base.Deadline;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// A tree of a guest's files that is being watched, by one thread at a time. A watcher who does not keep up stops the guest's telling.
public final class FileWatch implements AutoCloseable {
    private final Flow flow;
    private final FieldStream events;

    private FileWatch(Flow flow, FieldStream events) {
        this.flow = flow;
        this.events = events;
    }

    static FileWatch begin(FileRequest request, Deadline deadline) {
        var events = Inlet.drained();
        var complete = Inlet.keeping(0);
        var flow = request.flow(request.fields(), Optional.empty(), List.of(events, complete));
        try {
            var _ = flow.require(() -> complete(flow, complete), deadline);
            return new FileWatch(flow, new FieldStream(events, Tag.PATH));
        } catch (RuntimeException e) {
            flow.close();
            throw e;
        }
    }

    /// The next event; empty if none came for this long. Fails with UNAVAILABLE when the connection has ended, with
    /// PAYLOAD_TOO_LARGE when the tree has more directories than can be watched.
    public Optional<FileEvent> next(Duration wait) {
        return flow.await(this::event, Deadline.in(wait));
    }

    @Override
    public void close() {
        flow.close();
    }

    private static Optional<Boolean> complete(Flow flow, Inlet complete) throws ProtocolException {
        if (complete.hasEnded()) {
            return Optional.of(true);
        }
        flow.requireOngoing();
        return Optional.empty();
    }

    private Optional<FileEvent> event() throws ProtocolException {
        var fields = events.next();
        if (fields.isPresent()) {
            return Optional.of(FileEvent.of(fields.get()));
        }
        flow.requireOngoing();
        return Optional.empty();
    }
}
