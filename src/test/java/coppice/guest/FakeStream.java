package coppice.guest;

import coppice.guest.FakeGuest.Command;
import java.io.ByteArrayOutputStream;
import java.util.Optional;

/// One stream of a [FakeSession].
final class FakeStream {
    final ByteArrayOutputStream open = new ByteArrayOutputStream();
    Optional<Command> command = Optional.empty();
    Optional<FakeWork> work = Optional.empty();
    long stdin;
    boolean hasStdin;
    long stdinCredit;
    final long[] sent = {0, 0, 0};
    final long[] credit = {0, Inlet.WINDOW, Inlet.WINDOW};
    final boolean[] ended = {false, false, false};

    void close() {
        work.ifPresent(FakeWork::closed);
    }

    /// Its stdin starts at 0, or of a command that is gone on with anywhere before what is there already, which is dropped.
    long stdinStart(long offset) {
        long there = command.map(its -> its.stdin.size()).orElse(0);
        boolean isFirst = !hasStdin && offset <= there;
        hasStdin = true;
        return isFirst ? offset : stdin;
    }
}
