package coppice.dns;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Queries that come one after the other by TCP, each after its length (RFC 7766). They are answered as soon as their answers are there, in
/// whatever order. A client that sends more than it may, or reads slowly, is not read from until it may again.
final class TcpConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TcpConnection.class);
    private static final int MAX_QUERY = 4096;
    private static final int MAX_UNANSWERED = 16;

    private final Socket socket;
    private final Asker asker;
    private final Reception reception;
    private final Semaphore room = new Semaphore(MAX_UNANSWERED);
    private final ReentrantLock writing = new ReentrantLock();
    private volatile long lastProgress = System.nanoTime();

    /// Owns the socket.
    TcpConnection(Socket socket, Asker asker, Reception reception) {
        this.socket = socket;
        this.asker = asker;
        this.reception = reception;
    }

    /// Until the client has closed its side and has all answers, or the connection is closed.
    void serve() {
        try (socket) {
            socket.setTcpNoDelay(true);
            receiveAll(new DataInputStream(new BufferedInputStream(socket.getInputStream())));
            room.acquire(MAX_UNANSWERED);
        } catch (IOException | InterruptedException e) {
            LOG.debug("a DNS connection of {} ended", asker.address(), e);
        } catch (RuntimeException e) {
            reception.complaints().add("a fault of ours in a DNS connection", e);
        }
    }

    private void receiveAll(DataInputStream in) throws IOException, InterruptedException {
        try {
            while (true) {
                int length = in.readUnsignedShort();
                if (length < Head.LENGTH || length > MAX_QUERY) {
                    reception.counters().dropped.increment();
                    return;
                }
                var message = new byte[length];
                in.readFully(message);
                lastProgress = System.nanoTime();
                receive(message);
            }
        } catch (EOFException e) {
            LOG.debug("{} asks no more", asker.address(), e);
        }
    }

    /// Whether nothing whole has come or gone for so long.
    boolean isIdle(Duration time) {
        return System.nanoTime() - lastProgress >= time.toNanos();
    }

    private void receive(byte[] message) throws InterruptedException {
        reception.counters().queries.increment();
        var head = Head.of(message);
        if (head.has(Head.RESPONSE)) {
            reception.counters().dropped.increment();
            return;
        }
        awaitTurn();
        room.acquire();
        try {
            reception.threads().execute(() -> answer(head, message));
        } catch (RuntimeException e) {
            room.release();
            throw e;
        }
    }

    private void awaitTurn() throws InterruptedException {
        var wait = reception.askers().untilTurn(asker);
        while (wait.isPositive()) {
            Thread.sleep(wait);
            wait = reception.askers().untilTurn(asker);
        }
    }

    private void answer(Head head, byte[] message) {
        try {
            // Whether the client is known may have changed since it connected.
            var now = reception.asker(socket.getInetAddress());
            write(reception.answering().answer(now, head, message, Transport.TCP));
        } catch (IOException e) {
            LOG.debug("a DNS answer to {} was not sent", asker.address(), e);
            close();
        } finally {
            room.release();
        }
    }

    private void write(byte[] answer) throws IOException {
        var bytes =
                ByteBuffer.allocate(Short.BYTES + answer.length)
                        .putShort((short) answer.length)
                        .put(answer)
                        .array();
        writing.lock();
        try {
            socket.getOutputStream().write(bytes);
        } finally {
            writing.unlock();
        }
        lastProgress = System.nanoTime();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing a DNS connection of {}", asker.address(), e);
        }
    }
}
