package coppice.main;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.v5.TerminalPeer;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// Terminals of one VM whose program says what is typed. Without a pause each byte comes back once. A pause may lose what was on its way,
/// in one piece, and nothing else; nothing is typed twice.
final class EchoTraffic extends Traffic {
    private static final int MOST = 300_000;
    private static final int MARK = 16;
    private static final byte[] READY = "ready\n".getBytes(US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String PROGRAM = "stty raw -echo; echo ready; exec cat";

    EchoTraffic(Lane lane) {
        super(lane);
    }

    @Override
    void step() {
        var bytes = new KnownBytes(random.nextLong(), sizes.next(random, MOST));
        if (random.nextBoolean()) {
            story.tell("type calmly " + bytes);
            weather.calmly(vm, () -> echo(bytes, true));
        } else {
            story.tell("type " + bytes);
            echo(bytes, false);
        }
    }

    @Override
    void end() {
        // Each step closes its terminal.
    }

    private boolean echo(KnownBytes bytes, boolean isCalm) {
        var mark = weather.mark(vm);
        var peer = open(mark);
        if (peer.isEmpty()) {
            weather.awaitServer();
            return false;
        }
        long session = peer.get().text().requiredInteger("sessionId");
        var end = new KnownBytes(random.nextLong(), MARK).all();
        // What is typed earlier is read by a terminal that is not raw yet.
        var said = until(peer.get(), READY).flatMap(_ -> said(peer.get(), bytes, end, isCalm));
        if (said.isPresent()) {
            int gaps = isCalm ? 0 : weather.pausesSince(mark);
            new Echo(bytes.all()).require(said.get(), gaps);
        } else {
            assertTrue(weather.wasKilled(mark), "closed without a reason");
        }
        peer.get().cut();
        weather.awaitServer();
        return weather.calmly(vm, () -> close(session));
    }

    private Optional<TerminalPeer> open(Weather.Mark mark) {
        try {
            return Optional.of(client.terminal(vm, "?exec=" + TerminalTraffic.encoded(PROGRAM)));
        } catch (CompletionException e) {
            if (!weather.wasCut(mark)) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private boolean close(long session) {
        client.delete("/v5/vms/%s/pty/sessions/%d".formatted(vm, session)).expect(200);
        return true;
    }

    /// All that comes back; empty if the viewer was closed before that. The end is typed when no pause can lose it.
    private Optional<byte[]> said(TerminalPeer peer, KnownBytes bytes, byte[] end, boolean isCalm) {
        var isOver = new CountDownLatch(1);
        try (var typing = Executors.newVirtualThreadPerTaskExecutor()) {
            typing.submit(
                    () -> {
                        type(peer, bytes);
                        if (isCalm) {
                            peer.type(end);
                            return true;
                        }
                        return weather.calmly(vm, () -> typeAndAwait(peer, end, isOver));
                    });
            try {
                return until(peer, end);
            } finally {
                isOver.countDown();
            }
        }
    }

    private static boolean typeAndAwait(TerminalPeer peer, byte[] end, CountDownLatch isOver) {
        peer.type(end);
        try {
            return isOver.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void type(TerminalPeer peer, KnownBytes bytes) {
        for (long at = 0; at < bytes.size(); ) {
            int most = random.nextInt(3) == 0 ? 64 << 10 : 100;
            int length = (int) Math.min(1 + random.nextInt(most), bytes.size() - at);
            peer.type(bytes.part(at, length));
            at += length;
        }
    }

    /// All output that comes before this end; empty if the viewer was closed before it.
    private static Optional<byte[]> until(TerminalPeer peer, byte[] end) {
        var all = new ByteArrayOutputStream();
        while (true) {
            var more = peer.someUnlessClosed();
            if (more.isEmpty()) {
                return more;
            }
            all.writeBytes(more.get());
            var bytes = all.toByteArray();
            int size = bytes.length - end.length;
            if (size >= 0 && Arrays.equals(bytes, size, bytes.length, end, 0, end.length)) {
                return Optional.of(Arrays.copyOf(bytes, size));
            }
        }
    }
}
