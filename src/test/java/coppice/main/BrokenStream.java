package coppice.main;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.util.Random;

/// Known bytes on their way, in pieces of random sizes, that may break off before the end.
final class BrokenStream extends InputStream {
    private final KnownBytes bytes;
    private final Random random;
    private final long start;
    private final long end;
    private final long stop;
    private long at;

    /// @param mayBreak whether it is to break off, which it cannot without a byte
    BrokenStream(KnownBytes bytes, Random random, boolean mayBreak) {
        this(bytes, 0, bytes.size(), random, mayBreak);
    }

    /// Of a part, up to `end`.
    BrokenStream(KnownBytes bytes, long start, long end, Random random, boolean mayBreak) {
        this.bytes = bytes;
        this.random = random;
        this.start = start;
        this.at = start;
        this.end = end;
        this.stop =
                mayBreak && end > start
                        ? start + (long) (random.nextDouble() * (end - start))
                        : end;
    }

    boolean isBroken() {
        return stop < end;
    }

    /// With its length told before.
    HttpRequest.BodyPublisher publisher() {
        return end == start
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.fromPublisher(unmeasured(), end - start);
    }

    /// In chunks, whose end tells.
    HttpRequest.BodyPublisher unmeasured() {
        return HttpRequest.BodyPublishers.ofInputStream(() -> this);
    }

    @Override
    public int read() {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) {
        if (at == stop && isBroken()) {
            throw new UncheckedIOException(new IOException("broken off at " + at));
        }
        int most = random.nextInt(4) == 0 ? 1 + random.nextInt(length) : length;
        int count = (int) Math.min(most, stop - at);
        bytes.fill(at, into, from, count);
        at += count;
        return count == 0 ? -1 : count;
    }

    @Override
    public String toString() {
        return isBroken() ? "%s, broken off at %d".formatted(bytes, stop) : bytes.toString();
    }
}
