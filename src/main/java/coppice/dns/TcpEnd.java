package coppice.dns;

import coppice.base.Undo;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Accepts connections, up to the limits, and closes those that are idle.
final class TcpEnd implements AutoCloseable {
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    /// Idle connections are looked for so many times in the time that they may be idle.
    private static final int LOOKS = 8;

    private final ServerSocket server;
    private final Reception reception;
    private final Duration idleTime;
    private final Set<TcpConnection> connections = ConcurrentHashMap.newKeySet();

    /// Owns the socket.
    TcpEnd(ServerSocket server, Reception reception, Duration idleTime) {
        this.server = server;
        this.reception = reception;
        this.idleTime = idleTime;
    }

    void start() {
        reception.threads().execute(this::sweep);
        reception.threads().execute(this::acceptAll);
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                accept(server.accept());
            } catch (IOException | RuntimeException | Error e) {
                if (!server.isClosed()) {
                    reception.complaints().add("a DNS connection could not be accepted", e);
                    LockSupport.parkNanos(PAUSE);
                }
            }
        }
    }

    private void accept(Socket socket) {
        try (var undo = new Undo()) {
            undo.add(socket);
            var asker = reception.asker(socket.getInetAddress());
            if (!reception.askers().openConnection(asker)) {
                reception.counters().dropped.increment();
                return;
            }
            undo.onFailure(() -> reception.askers().closeConnection(asker));
            var connection = new TcpConnection(socket, asker, reception);
            connections.add(connection);
            undo.onFailure(() -> connections.remove(connection));
            reception.threads().execute(() -> serve(connection, asker));
            undo.keep();
        }
    }

    private void serve(TcpConnection connection, Asker asker) {
        try {
            connection.serve();
        } finally {
            connections.remove(connection);
            reception.askers().closeConnection(asker);
        }
    }

    private void sweep() {
        while (!server.isClosed()) {
            LockSupport.parkNanos(idleTime.toNanos() / LOOKS);
            connections.stream()
                    .filter(connection -> connection.isIdle(idleTime))
                    .forEach(TcpConnection::close);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        connections.forEach(TcpConnection::close);
    }
}
