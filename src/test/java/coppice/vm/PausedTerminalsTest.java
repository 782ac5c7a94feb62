package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalEnd;
import coppice.guest.TerminalName;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PausedTerminalsTest {
    private final Random random = Seed.random(PausedTerminalsTest.class);
    private final VmId vm = VmId.random();
    @TempDir private Path capture;

    @Test
    void whatIsKeptIsReadAsItWasToTheNanosecond() {
        for (int round = 0; round < 50; round++) {
            var terminals = Stream.generate(this::terminal).limit(random.nextInt(65)).toList();
            PausedTerminals.write(terminals, capture);
            assertEquals(terminals, PausedTerminals.read(vm, capture));
        }
    }

    @Test
    void whatTheGuestDidNotSayIsNotKnownAndNotNothing() {
        var failure = assertThrows(Failure.class, () -> PausedTerminals.read(vm, capture));
        assertEquals(Code.UNAVAILABLE, failure.code());
    }

    private TerminalDescription terminal() {
        return new TerminalDescription(
                1 + random.nextLong(Long.MAX_VALUE - 1),
                random.nextBoolean()
                        ? Optional.empty()
                        : Optional.of(new TerminalName.Slug("s-" + random.nextInt(100))),
                "ä\"\\ " + random.nextInt(),
                1 + random.nextInt(1000),
                1 + random.nextInt(1000),
                Instant.ofEpochSecond(random.nextLong(1L << 33), random.nextInt(1_000_000_000)),
                switch (random.nextInt(3)) {
                    case 0 -> Optional.empty();
                    case 1 -> Optional.of(new TerminalEnd.Exited(random.nextInt(256)));
                    default -> Optional.of(new TerminalEnd.Signalled(random.nextInt(128)));
                });
    }
}
