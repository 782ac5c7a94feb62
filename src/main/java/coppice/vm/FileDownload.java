package coppice.vm;

import coppice.base.Deadline;
import coppice.guest.FileReading;
import java.time.Duration;
import java.time.Instant;

/// A file, or a part of it, on its way out of a VM, which is held awake until this is closed. For one thread at a time.
public final class FileDownload implements AutoCloseable {
    private static final int BUFFER = 64 << 10;

    private final AwakeGuest guest;
    private final FileReading reading;
    private final long first;
    private final Duration stall;
    private final Deadline deadline;

    FileDownload(
            AwakeGuest guest, FileReading reading, long first, Duration stall, Deadline deadline) {
        this.guest = guest;
        this.reading = reading;
        this.first = first;
        this.stall = stall;
        this.deadline = deadline;
    }

    /// Of the whole file, in bytes.
    public long size() {
        return reading.description().size();
    }

    public Instant modified() {
        return reading.description().modified();
    }

    /// The position of the first byte that comes.
    public long first() {
        return first;
    }

    /// How many bytes come.
    public long length() {
        return reading.length();
    }

    /// Takes the bytes piece by piece. The array is free again when it returns.
    public interface Sink {
        void write(byte[] bytes, int at, int length);
    }

    /// Hands all bytes over. Fails with `UNAVAILABLE` when the guest stalls or the connection ends, with `CONFLICT` when the file becomes
    /// shorter meanwhile.
    public void writeTo(Sink sink) {
        var buffer = new byte[BUFFER];
        while (true) {
            int count = reading.read(buffer, 0, buffer.length, deadline.atMost(stall));
            if (count < 0) {
                return;
            }
            sink.write(buffer, 0, count);
        }
    }

    @Override
    public void close() {
        try {
            reading.close();
        } finally {
            guest.close();
        }
    }
}
