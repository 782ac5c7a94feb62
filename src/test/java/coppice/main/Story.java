package coppice.main;

import java.util.ArrayDeque;

/// The last things that happened, for the message of a test that fails. From any thread.
final class Story {
    private static final int KEPT = 300;

    private final long begun = System.nanoTime();
    private final ArrayDeque<String> lines = new ArrayDeque<>();

    synchronized void tell(String what) {
        lines.add(
                "%7.2f s  %s: %s"
                        .formatted(
                                (System.nanoTime() - begun) / 1e9,
                                Thread.currentThread().getName(),
                                what));
        if (lines.size() > KEPT) {
            lines.remove();
        }
    }

    @Override
    public synchronized String toString() {
        return String.join("\n", lines);
    }
}
