package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A client of the QEMU machine protocol (docs/interop/qmp-spec in QEMU's source): JSON lines over a UNIX socket, answers matched to
/// questions by id, events told to one listener.
///
/// Any thread may ask. Answers and events are read on a virtual thread of its own. When the socket ends, for whatever reason, all
/// waiting questions fail and `onClose` runs once.
final class Qmp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Qmp.class);
    private static final JsonMapper JSON = new JsonMapper();
    private static final int LINE_LIMIT =
            1 << 20; // a QEMU taken over by its guest must not fill the server's memory
    private static final Duration POLL = Duration.ofMillis(1);

    private final SocketChannel socket;
    private final InputStream in;
    private final Map<Long, BlockingQueue<JsonNode>> waiting = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock writing = new ReentrantLock();
    private final Consumer<JsonNode> events;
    private final Runnable onClose;
    private volatile boolean isOpen = true;

    private Qmp(SocketChannel socket, Consumer<JsonNode> events, Runnable onClose) {
        this.socket = socket;
        this.in = new BufferedInputStream(Channels.newInputStream(socket), 16384);
        this.events = events;
        this.onClose = onClose;
    }

    /// Connects, waiting for the socket to appear as long as `isAlive` says that its QEMU exists.
    static Qmp connect(
            String name,
            Path path,
            BooleanSupplier isAlive,
            Deadline deadline,
            Consumer<JsonNode> events,
            Runnable onClose) {
        var qmp = new Qmp(open(path, isAlive, deadline), events, onClose);
        try {
            Thread.ofVirtual().name("qmp-" + name).start(qmp::read);
            qmp.ask("qmp_capabilities", Map.of(), deadline);
            return qmp;
        } catch (RuntimeException e) {
            qmp.close();
            throw e;
        }
    }

    /// Connects to a UNIX socket that a starting QEMU is about to make.
    static SocketChannel open(Path path, BooleanSupplier isAlive, Deadline deadline) {
        while (true) {
            SocketChannel socket = null;
            try {
                socket = SocketChannel.open(StandardProtocolFamily.UNIX);
                socket.connect(UnixDomainSocketAddress.of(path));
                return socket;
            } catch (IOException e) {
                closeQuietly(socket);
                if (!isAlive.getAsBoolean()) {
                    throw ended("the QEMU ended before it listened", e);
                }
                if (deadline.isPast()) {
                    throw new Failure(Code.VM_START_TIMEOUT, "the QEMU did not listen in time", e);
                }
                pause();
            }
        }
    }

    /// Asks one question and waits for its answer. A refusal of QEMU is a [Failure] with its words.
    JsonNode ask(String command, Map<String, ?> arguments, Deadline deadline) {
        long id = ids.incrementAndGet();
        var answers = new ArrayBlockingQueue<JsonNode>(1);
        waiting.put(id, answers);
        try {
            send(Map.of("execute", command, "arguments", arguments, "id", id));
            if (!isOpen) {
                throw gone(command);
            }
            var answer = answers.poll(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
            if (answer == null) {
                throw new Failure(
                        Code.UNAVAILABLE, "QEMU did not answer '%s' in time".formatted(command));
            }
            if (answer.isMissingNode()) {
                throw gone(command);
            }
            if (answer.has("error")) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "QEMU refused '%s': %s"
                                .formatted(
                                        command, answer.path("error").path("desc").asString("")));
            }
            return answer.path("return");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while asking QEMU for " + command, e);
        } finally {
            waiting.remove(id);
        }
    }

    private static Failure gone(String command) {
        return ended("the QEMU ended during '%s'".formatted(command), null);
    }

    private static Failure ended(String when, Exception seen) {
        return new Failure(Code.UNAVAILABLE, when, new MachineEnded(Exit.CRASHED, seen));
    }

    boolean isOpen() {
        return isOpen;
    }

    private void send(Map<String, ?> message) {
        var bytes =
                ByteBuffer.wrap(
                        (JSON.writeValueAsString(message) + "\n")
                                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        writing.lock();
        try {
            while (bytes.hasRemaining()) {
                socket.write(bytes);
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the QEMU does not listen any more", e);
        } finally {
            writing.unlock();
        }
    }

    private void read() {
        try {
            for (var line = readLine(); line.length > 0; line = readLine()) {
                var message = JSON.readTree(line);
                if (message.has("event")) {
                    events.accept(message);
                } else if (message.has("id")) {
                    var answers = waiting.get(message.path("id").asLong());
                    if (answers != null) {
                        answers.offer(message);
                    }
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("QMP ended", e);
        } finally {
            isOpen = false;
            closeQuietly(socket);
            waiting.values().forEach(answers -> answers.offer(JSON.missingNode()));
            onClose.run();
        }
    }

    /// One line without its end; empty at the end of the stream.
    private byte[] readLine() throws IOException {
        var line = new ByteArrayOutputStream(512);
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n') {
                return line.toByteArray();
            }
            if (line.size() >= LINE_LIMIT) {
                throw new IOException("a QMP line is too long");
            }
            line.write(b);
        }
        return new byte[0];
    }

    private static void pause() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for QEMU", e);
        }
    }

    private static void closeQuietly(SocketChannel socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                LOG.debug("closing a socket", e);
            }
        }
    }

    @Override
    public void close() {
        closeQuietly(socket);
    }
}
