package coppice.guest;

import coppice.base.Deadline;
import java.net.ProtocolException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// A file of a guest that is being written, by one thread at a time. At most a window of it waits here, so a slow guest stops the writer.
/// Closed without [#commit], or after any failure, nothing was written; only of a commit whose answer was lost can that not be known.
public final class FileWriting implements AutoCloseable {
    private final Flow flow;
    private final Outlet body;
    private final long size;
    private long written;

    private FileWriting(Flow flow, Outlet body, long size) {
        this.flow = flow;
        this.body = body;
        this.size = size;
    }

    static FileWriting begin(FileRequest request, NewFile file) {
        var fields = request.fields().number(Tag.SIZE, file.size());
        file.mode().ifPresent(mode -> fields.number(Tag.MODE, mode));
        file.checksum().ifPresent(sum -> fields.number(Tag.CHECKSUM, sum));
        var body = Outlet.fed(Inlet.WINDOW);
        return new FileWriting(
                request.flow(fields, Optional.of(body), List.of()), body, file.size());
    }

    /// Waits until all of these bytes are on their way. Fails as the guest did, if it did by now, with UNAVAILABLE if the guest
    /// does not take them in time or the connection ended; then it is over.
    public void write(byte[] bytes, int at, int length, Deadline deadline) {
        Objects.checkFromIndexSize(at, length, bytes.length);
        if (length > size - written) {
            throw new IllegalArgumentException("the file was to have %d bytes".formatted(size));
        }
        for (int done = 0; done < length; ) {
            int from = done;
            done += orClose(() -> put(bytes, at + from, length - from), deadline);
        }
        written += length;
    }

    /// Waits until the whole file has taken its place and would last through a power cut.
    public void commit(Deadline deadline) {
        if (written != size) {
            throw new IllegalStateException("%d of %d bytes were written".formatted(written, size));
        }
        orClose(
                () -> {
                    body.complete();
                    return Optional.of(true);
                },
                deadline);
        orClose(this::committed, deadline);
    }

    @Override
    public void close() {
        flow.close();
    }

    private Optional<Integer> put(byte[] bytes, int at, int length) throws ProtocolException {
        flow.requireOngoing();
        int count = Math.min(length, body.room());
        if (count == 0) {
            return Optional.empty();
        }
        body.put(bytes, at, count);
        return Optional.of(count);
    }

    private Optional<Fields> committed() throws ProtocolException {
        var result = flow.result();
        if (result.isPresent()
                && (!body.hasEnded() || result.get().number(Tag.SIZE, size) != size)) {
            throw new ProtocolException("another file was written than the one that was sent");
        }
        return result;
    }

    private <T> T orClose(Call.Look<T> look, Deadline deadline) {
        try {
            return flow.require(look, deadline);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }
}
