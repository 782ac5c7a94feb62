package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Failure;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/// A VM whose connections break all the time, and what the server would do about it.
final class Reconnecting {
    private final FakeGuest vm;
    private final Random random;
    private final ReentrantLock lock = new ReentrantLock();
    private int connections;
    private Guest guest;

    Reconnecting(FakeGuest vm, Random random) {
        this.vm = vm;
        this.random = random;
        this.guest = reconnected();
    }

    int connections() {
        return connections;
    }

    Guest guest() {
        lock.lock();
        try {
            if (!guest.isOpen()) {
                guest = reconnected();
            }
            return guest;
        } finally {
            lock.unlock();
        }
    }

    private Guest reconnected() {
        while (true) {
            connections++;
            try {
                return Given.connect(vm.plug(cut(), cut()));
            } catch (IOException | Failure e) {
                assertTrue(connections < 10_000, e::toString);
            }
        }
    }

    /// Each connection lives longer than the one before, so that all ends some time.
    private long cut() {
        return 16_000 + random.nextLong(100_000L + 30_000L * connections);
    }
}
