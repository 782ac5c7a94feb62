package coppice.store;

import java.util.concurrent.CountDownLatch;

/// A unit that holds the thread of the store until the test opens the gate.
final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    boolean hold() {
        reached.countDown();
        await(opened);
        return true;
    }

    void awaitReached() {
        await(reached);
    }

    void open() {
        opened.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
