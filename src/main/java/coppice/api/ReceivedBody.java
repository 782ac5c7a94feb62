package coppice.api;

import coppice.base.Deadline;
import coppice.base.Size;
import coppice.http.RequestBody;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/// A request's body that tells when all of it has been read. From then on nothing of the request itself is touched any more: it may have
/// been answered.
final class ReceivedBody implements RequestBody {
    private final RequestBody body;
    private final OptionalLong length;
    private final List<Runnable> listeners = new ArrayList<>();
    private boolean isReceived;

    ReceivedBody(RequestBody body) {
        this.body = body;
        this.length = body.length();
        this.isReceived = length.isPresent() && length.getAsLong() == 0;
    }

    /// At once, if it has.
    synchronized void whenReceived(Runnable listener) {
        if (isReceived) {
            listener.run();
        } else {
            listeners.add(listener);
        }
    }

    private synchronized void received() {
        isReceived = true;
        listeners.forEach(Runnable::run);
        listeners.clear();
    }

    private synchronized boolean isReceived() {
        return isReceived;
    }

    @Override
    public byte[] read(Size limit, Deadline deadline) {
        var bytes = isReceived() ? new byte[0] : body.read(limit, deadline);
        received();
        return bytes;
    }

    @Override
    public OptionalLong length() {
        return length;
    }

    @Override
    public Stream stream(Size limit) {
        return isReceived() ? (_, _, _, _) -> 0 : new Counted(body.stream(limit));
    }

    private final class Counted implements Stream {
        private final Stream stream;
        private long bytes;

        Counted(Stream stream) {
            this.stream = stream;
        }

        @Override
        public int read(byte[] into, int at, int count, Deadline deadline) {
            if (isReceived()) {
                return 0;
            }
            int n = stream.read(into, at, count, deadline);
            bytes += n;
            if (n == 0 && count > 0 || bytes == length.orElse(-1)) {
                received();
            }
            return n;
        }
    }
}
