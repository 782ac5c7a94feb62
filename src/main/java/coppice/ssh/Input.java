package coppice.ssh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.server.channel.ChannelDataReceiver;
import org.apache.sshd.server.channel.ChannelSession;

/// What a client has sent on a channel and nobody has taken yet: a window of the channel at most, since the client may send more only when
/// some was taken. The library puts, one thread of ours takes.
final class Input implements ChannelDataReceiver {
    private static final int CHUNK = 32 * 1024;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ByteArrayOutputStream here = new ByteArrayOutputStream();
    private boolean hasEnded;

    @Override
    public int data(ChannelSession channel, byte[] bytes, int from, int length) {
        lock.lock();
        try {
            if (hasEnded) {
                return length;
            }
            here.write(bytes, from, length);
            changed.signalAll();
            return 0; // taken later
        } finally {
            lock.unlock();
        }
    }

    /// The client sends nothing more.
    @Override
    public void close() {
        lock.lock();
        try {
            hasEnded = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// The next bytes, at most 32 KiB; none at the end.
    byte[] take(ChannelSession channel) throws InterruptedException, IOException {
        byte[] taken;
        lock.lockInterruptibly();
        try {
            while (here.size() == 0 && !hasEnded) {
                changed.await();
            }
            var all = here.toByteArray();
            taken = Arrays.copyOf(all, Math.min(all.length, CHUNK));
            here.reset();
            here.write(all, taken.length, all.length - taken.length);
        } finally {
            lock.unlock();
        }
        if (taken.length > 0) {
            channel.getLocalWindow().release(taken.length);
        }
        return taken;
    }
}
