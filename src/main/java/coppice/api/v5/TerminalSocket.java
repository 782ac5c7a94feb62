package coppice.api.v5;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.guest.TerminalEnd;
import coppice.http.WebSocket;
import coppice.http.WebSocketHandler;
import coppice.vm.TerminalWatch;
import coppice.vm.Viewer;
import coppice.vm.ViewerEnd;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A viewer at the other end of a WebSocket. The viewer's thread sends what the terminal says; the socket's own thread handles what comes.
final class TerminalSocket implements WebSocketHandler, TerminalWatch {
    private static final Logger LOG = LoggerFactory.getLogger(TerminalSocket.class);

    /// How far a peer may be behind. When it is, its terminal is held back for a moment, so that a peer that is slow but reads is not cut.
    private static final Size MAX_BEHIND = Size.ofMib(8);

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final int NORMAL = 1000;
    private static final int GOING_AWAY = 1001;
    private static final int POLICY = 1008;
    private static final int FAULT = 1011;

    private final Viewer viewer;
    private volatile WebSocket socket;

    TerminalSocket(Viewer viewer) {
        this.viewer = viewer;
    }

    @Override
    public void opened(WebSocket opened) {
        socket = opened;
        socket.send(TerminalFrame.sessionInfo(viewer));
        Thread.ofVirtual()
                .name("terminal-%d".formatted(viewer.session().session()))
                .start(this::follow);
    }

    private void follow() {
        try {
            closeBecause(viewer.follow(this));
        } catch (Failure e) {
            // Mostly the peer has gone while it was sent something.
            LOG.debug("a viewer of a terminal ended", e);
            socket.close(FAULT, e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("a viewer of a terminal met a fault of ours", e);
            socket.close(FAULT, "the server met a fault of its own");
        }
    }

    private void closeBecause(ViewerEnd end) {
        switch (end) {
            case DETACHED -> {}
            case CLOSED -> socket.close(NORMAL, "the terminal was closed");
            case STOPPED -> socket.close(GOING_AWAY, "the VM has stopped");
            case TOO_SLOW -> socket.close(POLICY, "too far behind; attach again");
            case REVOKED -> socket.close(POLICY, "the right to see this was revoked");
            case LOST -> {
                var why =
                        new Failure(Code.UNAVAILABLE, "the guest cannot be reached; attach again");
                socket.send(TerminalFrame.error(why));
                socket.close(FAULT, why.getMessage());
            }
        }
    }

    @Override
    public void output(byte[] bytes) {
        var patience = Deadline.in(PATIENCE);
        while (socket.queuedBytes() + bytes.length > MAX_BEHIND.bytes() && !viewer.isOver()) {
            if (patience.isPast()) {
                viewer.end(ViewerEnd.TOO_SLOW);
            }
            rest();
        }
        if (!viewer.isOver()) {
            socket.send(bytes);
        }
    }

    private static void rest() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while a peer was waited for", e);
        }
    }

    @Override
    public void exited(TerminalEnd end) {
        socket.send(TerminalFrame.exited(end));
    }

    @Override
    public void text(String message) {
        orTell(
                () -> {
                    switch (TerminalFrame.parse(message)) {
                        case TerminalFrame.Resize(int columns, int rows) ->
                                viewer.resize(columns, rows);
                        case TerminalFrame.Signal(int number) -> viewer.signal(number);
                    }
                });
    }

    @Override
    public void binary(byte[] message) {
        orTell(() -> viewer.type(message));
    }

    /// What fails is said to the peer, and the connection stays.
    private void orTell(Runnable act) {
        try {
            act.run();
        } catch (Failure e) {
            if (!viewer.isOver()) {
                socket.send(TerminalFrame.error(e));
            }
        }
    }

    @Override
    public void closed(int code, String reason) {
        viewer.close();
    }
}
