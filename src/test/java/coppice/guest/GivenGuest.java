package coppice.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Supplier;

/// The terminals of a [FakeGuest], for tests of other packages: what is typed comes back as output, and `exit N` ends a session.
public final class GivenGuest implements AutoCloseable {
    private final FakeGuest fake =
            FakeGuest.running(_ -> FakeGuest.Ending.exit(0, new byte[0], new byte[0]));

    /// A new connection to the agent.
    public Guest connect() {
        try {
            return Given.connect(fake.plug());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A program in the session writes this.
    public void say(long session, byte[] output) {
        at(
                () -> {
                    fake.terminals().session(session).write(output);
                    return session;
                });
    }

    /// What was kept of the output before this offset is dropped.
    public void keepFrom(long offset) {
        at(() -> fake.terminals().oldest = offset);
    }

    public void reboot() {
        at(
                () -> {
                    fake.terminals().reboot();
                    return 0;
                });
    }

    /// Columns and rows.
    public String size(long session) {
        return at(
                () -> {
                    var found = fake.terminals().session(session);
                    return found.columns + "x" + found.rows;
                });
    }

    public int viewers(long session) {
        return at(() -> fake.terminals().session(session).streams.size());
    }

    private <T> T at(Supplier<T> look) {
        synchronized (fake) {
            var seen = look.get();
            fake.notifyAll();
            return seen;
        }
    }

    @Override
    public void close() {
        try {
            fake.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
