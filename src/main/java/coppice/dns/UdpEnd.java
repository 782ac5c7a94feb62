package coppice.dns;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Receives queries as datagrams. One thread takes them in and decides which are answered; what costs more is done by a thread for each.
final class UdpEnd implements AutoCloseable {
    /// A query needs a few hundred bytes; what is cut off here is malformed.
    private static final int MAX_QUERY = 4096;

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private final DatagramChannel channel;
    private final Reception reception;
    private final Semaphore room;

    /// Owns the channel.
    UdpEnd(DatagramChannel channel, Reception reception, ResolverSettings.InAll limits) {
        this.channel = channel;
        this.reception = reception;
        this.room = new Semaphore(limits.maxDatagrams());
    }

    void start() {
        reception.threads().execute(this::receiveAll);
    }

    private void receiveAll() {
        var buffer = ByteBuffer.allocateDirect(MAX_QUERY);
        while (channel.isOpen()) {
            try {
                buffer.clear();
                var source = channel.receive(buffer);
                receive((InetSocketAddress) source, buffer.flip());
            } catch (IOException | RuntimeException | Error e) {
                // One bad packet, or one bad moment of the system, is no reason to stop.
                if (channel.isOpen()) {
                    reception.complaints().add("a DNS query could not be received", e);
                    LockSupport.parkNanos(PAUSE);
                }
            }
        }
    }

    private void receive(InetSocketAddress source, ByteBuffer packet) {
        reception.counters().queries.increment();
        if (packet.remaining() < Head.LENGTH) {
            drop();
            return;
        }
        var message = new byte[packet.remaining()];
        packet.get(message);
        var head = Head.of(message);
        if (head.has(Head.RESPONSE) || source.getPort() == 0) {
            drop();
            return;
        }
        var asker = reception.asker(source.getAddress());
        switch (reception.askers().admit(asker)) {
            case ANSWERED -> answer(source, asker, head, message);
            case TRUNCATED -> {
                drop();
                Query.parse(head, message)
                        .ifPresent(query -> send(source, Answer.truncated(query)));
            }
            case DROPPED -> drop();
        }
    }

    private void answer(InetSocketAddress source, Asker asker, Head head, byte[] message) {
        if (!room.tryAcquire()) {
            drop();
            return;
        }
        try {
            reception
                    .threads()
                    .execute(
                            () -> {
                                try {
                                    var answering = reception.answering();
                                    send(
                                            source,
                                            answering.answer(asker, head, message, Transport.UDP));
                                } finally {
                                    room.release();
                                }
                            });
        } catch (RuntimeException e) {
            room.release();
            throw e;
        }
    }

    private void send(SocketAddress client, byte[] answer) {
        try {
            channel.send(ByteBuffer.wrap(answer), client);
        } catch (ClosedChannelException _) {
            // The resolver is being closed.
        } catch (IOException e) {
            reception.complaints().add("a DNS answer could not be sent", e);
        }
    }

    private void drop() {
        reception.counters().dropped.increment();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
