package coppice.guest;

import coppice.base.Deadline;
import java.net.ProtocolException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// A file of a guest that is being read, by one thread at a time. At most a window of it waits here, so a slow reader stops the guest.
/// Closing it before the end stops the guest too.
public final class FileReading implements AutoCloseable {
    private static final int MAX_DESCRIPTION = 4096;

    private final Flow flow;
    private final Inlet bytes;
    private final FileDescription description;
    private final long length;

    private FileReading(Flow flow, Inlet bytes, FileDescription description, long length) {
        this.flow = flow;
        this.bytes = bytes;
        this.description = description;
        this.length = length;
    }

    static FileReading begin(FileRequest request, FileRange range, Deadline deadline) {
        var fields = request.fields();
        if (range.offset() > 0) {
            fields.number(Tag.OFFSET, range.offset());
        }
        range.length().ifPresent(length -> fields.number(Tag.LENGTH, length));
        var bytes = Inlet.drained();
        var described = Inlet.keeping(MAX_DESCRIPTION);
        var flow = request.flow(fields, Optional.empty(), List.of(bytes, described));
        try {
            var description = flow.require(() -> description(flow, described), deadline);
            long length = range.within(description.size());
            var _ = flow.require(() -> limited(bytes, length), deadline);
            return new FileReading(flow, bytes, description, length);
        } catch (RuntimeException e) {
            flow.close();
            throw e;
        }
    }

    /// The file as it was when the reading began.
    public FileDescription description() {
        return description;
    }

    /// How many bytes will come in all.
    public long length() {
        return length;
    }

    /// Waits for bytes, at most `length` of them, and returns how many they are; -1 after the last. Fails with UNAVAILABLE if
    /// none came in time (it may be asked again) or the connection ended, with CONFLICT if the file became shorter than it was
    /// described.
    public int read(byte[] into, int at, int length, Deadline deadline) {
        Objects.checkFromIndexSize(at, length, into.length);
        if (length == 0) {
            return 0;
        }
        return flow.require(() -> taken(into, at, length), deadline);
    }

    @Override
    public void close() {
        flow.close();
    }

    private static Optional<FileDescription> description(Flow flow, Inlet described)
            throws ProtocolException {
        if (described.hasEnded()) {
            return Optional.of(FileDescription.of(Fields.parse(described.bytes())));
        }
        flow.requireOngoing();
        return Optional.empty();
    }

    private static Optional<Boolean> limited(Inlet bytes, long length) throws ProtocolException {
        bytes.limit(length);
        return Optional.of(true);
    }

    private Optional<Integer> taken(byte[] into, int at, int most) throws ProtocolException {
        int count = bytes.take(into, at, most);
        if (count > 0) {
            return Optional.of(count);
        }
        if (flow.result().isEmpty()) {
            return Optional.empty();
        }
        if (!bytes.hasEnded() || bytes.size() != length) {
            throw new ProtocolException(
                    "%d of %d bytes of a file came".formatted(bytes.size(), length));
        }
        return Optional.of(-1);
    }
}
