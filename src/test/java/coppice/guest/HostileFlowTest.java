package coppice.guest;

import static coppice.guest.Scripts.channel;
import static coppice.guest.Scripts.data;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Guests that spoil or flood what flows.
@Timeout(60)
class HostileFlowTest {
    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));

    @AfterEach
    void unplug() throws IOException {
        vm.close();
    }

    @Test
    void spoiledBytesOfAReadNeverBringMoreThanAClosedConnection() throws Exception {
        var random = Seed.random(HostileFlowTest.class);
        var bytes = ByteBuffer.allocate(4096);
        Stream.of(
                        data(1, 1, 0, 1 + random.nextInt(900)),
                        Frame.offset(FrameKind.END, 1, 1, 5),
                        Frame.offset(FrameKind.CREDIT, 1, 0, 7),
                        data(1, 2, 0, 7))
                .forEach(frame -> bytes.put(FrameWriter.encode(frame)));
        for (int round = 0; round < 200; round++) {
            var sent = Arrays.copyOf(bytes.array(), bytes.position());
            sent[random.nextInt(sent.length)] ^= (byte) (1 + random.nextInt(255));
            var channel =
                    vm.scripted(
                            wire -> {
                                wire.welcome();
                                wire.next(FrameKind.OPEN);
                                wire.raw(sent);
                                wire.close();
                            });
            var guest = Given.connect(channel);
            var failure = assertThrows(Failure.class, () -> FlowBreachTest.read(guest));
            assertEquals(Code.UNAVAILABLE, failure.code());
            assertFalse(guest.isOpen());
        }
    }

    @Test
    void aFloodOfEventsWaitsAtTheGuest() throws Exception {
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            int s = wire.next(FrameKind.OPEN).stream();
                            channel(wire, s, 2, new FieldsWriter());
                            var event = new FieldsWriter().number(Tag.EVENT, 2).text(Tag.PATH, "/");
                            long sent = 0;
                            for (long credit = Inlet.WINDOW; sent < 3L * Inlet.WINDOW; ) {
                                var all = event.toBytes();
                                while (sent + all.length > credit) {
                                    credit = wire.next(FrameKind.CREDIT).offset();
                                }
                                wire.send(Frame.data(s, 1, sent, all, 0, all.length));
                                sent += all.length;
                            }
                        });
        var guest = Given.connect(channel);
        int length = new FieldsWriter().number(Tag.EVENT, 2).text(Tag.PATH, "/").toBytes().length;
        try (var watch = guest.files().watch("/", Optional.empty(), Given.soon())) {
            for (int seen = 0; seen < 3 * Inlet.WINDOW; seen += length) {
                assertTrue(watch.next(Duration.ofSeconds(30)).isPresent());
            }
        }
        assertTrue(guest.isOpen());
    }
}
