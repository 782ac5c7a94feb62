package coppice.guest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicLong;

/// A channel that breaks after so many bytes in either direction, wherever in a frame that is.
final class CuttingChannel implements ByteChannel {
    private final ByteChannel channel;
    private final AtomicLong readable;
    private final AtomicLong writable;

    CuttingChannel(ByteChannel channel, long readable, long writable) {
        this.channel = channel;
        this.readable = new AtomicLong(readable);
        this.writable = new AtomicLong(writable);
    }

    @Override
    public int read(ByteBuffer bytes) throws IOException {
        return cut(bytes, readable, channel::read);
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
        return cut(bytes, writable, channel::write);
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private interface Transfer {
        int of(ByteBuffer bytes) throws IOException;
    }

    private int cut(ByteBuffer bytes, AtomicLong budget, Transfer transfer) throws IOException {
        if (budget.get() <= 0) {
            close();
            throw new ClosedChannelException();
        }
        var part = bytes.slice().limit((int) Math.min(bytes.remaining(), budget.get()));
        int count = transfer.of(part);
        if (count > 0) {
            bytes.position(bytes.position() + count);
            budget.addAndGet(-count);
        }
        return count;
    }
}
