package coppice.guest;

import static coppice.guest.Scripts.answerOnlySync;
import static coppice.guest.Scripts.data;
import static coppice.guest.Scripts.ended;
import static coppice.guest.Scripts.lengths;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HostileGuestTest {
    private static final int LIMIT = 1000;

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));

    @AfterEach
    void unplug() throws IOException {
        vm.close();
    }

    @Test
    void anAgentThatNeverGivesCreditHoldsUpOnlyTheOneCommand() throws Exception {
        var channel = vm.scripted(Scripts::answerOnlySync);
        var guest = Given.connect(channel);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var starving =
                    threads.submit(
                            () ->
                                    guest.exec(
                                            Given.exec("x", "", new byte[1 << 20], 9),
                                            Given.atOnce()));
            guest.sync(Given.soon());
            assertInstanceOf(
                    Failure.class, assertThrows(Exception.class, starving::get).getCause());
            guest.sync(Given.soon());
        }
    }

    @Test
    void anAgentThatNeverReadsBlocksNobodyPastTheDeadline() throws Exception {
        var guest =
                Given.connect(
                        vm.scripted(
                                wire ->
                                        wire.welcome(
                                                wire.honestWelcome().number(Tag.TIME_LIMIT, 0))));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = new ArrayList<Future<?>>();
            for (int i = 0; i < 100; i++) {
                calls.add(
                        threads.submit(
                                () ->
                                        guest.exec(
                                                Given.exec("x".repeat(100_000), "", new byte[9], 9),
                                                Given.atOnce())));
            }
            for (var call : calls) {
                assertInstanceOf(
                        Failure.class, assertThrows(Exception.class, call::get).getCause());
            }
            assertTrue(guest.isOpen());
            guest.close();
        }
    }

    @Test
    void requestsThatNobodyReadsAreLimited() throws Exception {
        var guest = Given.connect(vm.scripted(Wire::welcome));
        var past = Deadline.in(Duration.ZERO);
        var exec = Given.exec("x".repeat(1 << 20), "", new byte[0], 9);
        var codes =
                Stream.generate(
                        () -> assertThrows(Failure.class, () -> guest.exec(exec, past)).code());
        assertTrue(codes.limit(10).allMatch(Code.UNAVAILABLE::equals));
        // How many fit into the socket before nobody can send more is the kernel's affair.
        var more =
                Stream.generate(() -> assertThrows(Failure.class, () -> guest.sync(past)).code());
        assertTrue(more.limit(50_000).anyMatch(Code.RATE_LIMITED::equals));
    }

    @Test
    void whatMayBeIgnoredIsIgnored() throws Exception {
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            int s = wire.next(FrameKind.OPEN).stream();
                            wire.send(data(s + 1, 1, 77, 5));
                            wire.send(Frame.fields(FrameKind.RESULT, 0, new byte[0]));
                            wire.send(Frame.fields(FrameKind.RESET, -1, new byte[3]));
                            wire.send(Frame.fields(FrameKind.PONG, 0, new byte[8]));
                            wire.send(Frame.offset(FrameKind.CREDIT, s, 0, Long.MAX_VALUE));
                            wire.send(Frame.offset(FrameKind.CREDIT, s, 0, 3));
                            ended(wire, s, lengths(5, 0).number(Tag.EXIT_STATUS, 4));
                            wire.send(data(s, 1, 5, 5));
                            answerOnlySync(wire, wire.next(FrameKind.OPEN));
                        });
        var guest = Given.connect(channel);
        var outcome = guest.exec(Given.exec("x", "", new byte[0], LIMIT), Given.soon());
        assertEquals(4, assertInstanceOf(ExecOutcome.Exited.class, outcome).status());
        guest.sync(Given.soon());
    }

    @Test
    void aFloodOfPingsIsAnsweredAtTheHostsOwnPace() throws Exception {
        var seen = new ArrayList<Frame>();
        var last = Frame.offset(FrameKind.PONG, 0, 0, 20_000);
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            for (long i = 1; i <= 20_000; i++) {
                                wire.send(Frame.offset(FrameKind.PING, 0, 0, i));
                            }
                            while (!(!seen.isEmpty() && seen.getLast().equals(last))) {
                                seen.add(wire.next());
                            }
                            var open =
                                    seen.stream()
                                            .filter(frame -> frame.kind() == FrameKind.OPEN)
                                            .findFirst();
                            answerOnlySync(
                                    wire,
                                    open.isPresent() ? open.get() : wire.next(FrameKind.OPEN));
                        });
        Given.connect(channel).sync(Given.soon());
        assertTrue(seen.size() <= 20_001);
    }

    @Test
    void framesForAnAbandonedCommandAreDropped() throws Exception {
        var caller = Thread.currentThread();
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            int s = wire.next(FrameKind.OPEN).stream();
                            caller.interrupt();
                            assertEquals(s, wire.next(FrameKind.RESET).stream());
                            wire.send(data(s, 1, 55, 5));
                            wire.send(Frame.offset(FrameKind.END, s, 1, 1));
                            answerOnlySync(wire, wire.next(FrameKind.OPEN));
                        });
        var guest = Given.connect(channel);
        var exec = Given.exec("x", "", new byte[0], LIMIT);
        assertThrows(Failure.class, () -> guest.exec(exec, Given.soon()));
        assertTrue(Thread.interrupted());
        guest.sync(Given.soon());
    }
}
