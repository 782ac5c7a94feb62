package coppice.guest;

import java.util.Optional;

/// The ends of a command's streams that are here, over all connections that the command goes on by. Everything in it is
/// guarded by the monitor.
final class Streams {
    private final Monitor monitor = new Monitor();
    private final Outlet stdin;
    private final Inlet stdout = Inlet.drained();
    private final Inlet stderr = Inlet.drained();
    private Optional<Line> line = Optional.empty();
    private boolean isOver;

    private record Line(Connection connection, Call call) {}

    Streams(int inputLimit) {
        this.stdin = Outlet.lasting(inputLimit);
    }

    Monitor monitor() {
        return monitor;
    }

    Outlet stdin() {
        return stdin;
    }

    Inlet stdout() {
        return stdout;
    }

    Inlet stderr() {
        return stderr;
    }

    boolean isOver() {
        return isOver;
    }

    void follow(Connection connection, Call call) {
        underLock(() -> line = Optional.of(new Line(connection, call)));
    }

    /// Nothing more comes, however the command has ended or was lost.
    void end() {
        underLock(
                () -> {
                    isOver = true;
                    monitor.tell();
                });
    }

    /// Has sent what a look has left to send. On a connection that has ended since it does nothing, and the next one sends all the same.
    void send() {
        monitor.lock().lock();
        Optional<Line> now;
        try {
            now = line;
        } finally {
            monitor.lock().unlock();
        }
        now.ifPresent(its -> its.connection.sendMore(its.call));
    }

    private void underLock(Runnable change) {
        monitor.lock().lock();
        try {
            change.run();
        } finally {
            monitor.lock().unlock();
        }
    }
}
