package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import coppice.base.Deadline;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// What most tests of guests start from.
final class Given {
    private Given() {}

    static final Instant NOW = Instant.parse("2026-01-02T03:04:05.000000006Z");

    static final Generation GENERATION =
            new Generation(UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));

    static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }

    static Deadline atOnce() {
        return Deadline.in(Duration.ofMillis(50));
    }

    static Hello hello() {
        return new Hello(GENERATION, InstantSource.fixed(NOW), new byte[64], Optional.empty());
    }

    static Guest connect(ByteChannel channel) {
        return assertInstanceOf(
                        Greeting.Welcomed.class, Guest.connect("vm-1", channel, hello(), soon()))
                .guest();
    }

    static Exec exec(String command, String user, byte[] stdin, int limit) {
        return new Exec(
                new ExecId(UUID.randomUUID()),
                command,
                Optional.of(user).filter(name -> !name.isEmpty()),
                Map.of("A", "b"),
                stdin,
                Duration.ofSeconds(5),
                limit,
                Optional.empty());
    }

    /// Waits for the end of the connection; false if it goes on.
    static boolean closes(Guest guest) {
        var closed = new CountDownLatch(1);
        guest.onClose(closed::countDown);
        try {
            return closed.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
