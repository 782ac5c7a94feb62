package coppice.guest;

import static coppice.guest.Scripts.claiming;
import static coppice.guest.Scripts.data;
import static coppice.guest.Scripts.endAt;
import static coppice.guest.Scripts.ended;
import static coppice.guest.Scripts.lengths;
import static coppice.guest.Scripts.result;
import static coppice.guest.Scripts.spoiled;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class BreachTest {
    private static final int LIMIT = 1000;

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));

    @AfterEach
    void unplug() throws IOException {
        vm.close();
    }

    private interface Breach {
        void commit(Wire wire, int stream) throws IOException;
    }

    private static Arguments breach(String message, Breach breach) {
        return Arguments.of(message, breach);
    }

    /// What is said of it, and what the guest does on the stream of a command whose output limit is 1000.
    static Stream<Arguments> breaches() {
        return Stream.of(
                        spoiledFrames(),
                        falseStreams(),
                        misplacedFrames(),
                        falseResults(),
                        falseEndings())
                .flatMap(Function.identity());
    }

    private static Stream<Arguments> spoiledFrames() {
        return Stream.of(
                breach(
                        "a frame has a wrong checksum",
                        (wire, s) -> wire.raw(spoiled(data(s, 1, 0, 5), 20, 99))),
                breach(
                        "a frame does not start with 0xC7",
                        (wire, s) -> wire.raw(spoiled(data(s, 1, 0, 5), 0, 0))),
                breach("a frame claims 16385 bytes", (wire, s) -> wire.raw(claiming(16385))),
                breach("a frame claims 4294967295 bytes", (wire, s) -> wire.raw(claiming(-1))),
                breach(
                        "a frame claims 2147483647 bytes",
                        (wire, s) -> wire.raw(claiming(Integer.MAX_VALUE))));
    }

    private static Stream<Arguments> falseStreams() {
        return Stream.of(
                breach(
                        "data came for offset 1 instead of 0",
                        (wire, s) -> wire.send(data(s, 1, 1, 5))),
                breach("an offset is beyond 2^63", (wire, s) -> wire.send(data(s, 1, -1, 5))),
                breach("a DATA frame has no data", (wire, s) -> wire.send(data(s, 1, 0, 0))),
                breach(
                        "more data came than was asked for",
                        (wire, s) -> wire.send(data(s, 2, 0, LIMIT + 1))),
                breach(
                        "more data came than was asked for",
                        (wire, s) -> {
                            wire.send(data(s, 1, 0, LIMIT));
                            wire.send(data(s, 1, LIMIT, 1));
                        }),
                breach("DATA came on channel 0", (wire, s) -> wire.send(data(s, 0, 0, 5))),
                breach("DATA came on channel 3", (wire, s) -> wire.send(data(s, 3, 0, 5))),
                breach("the end came at 6 instead of 5", (wire, s) -> endAt(wire, s, 6)),
                breach("the end came at 4 instead of 5", (wire, s) -> endAt(wire, s, 4)),
                breach(
                        "the end came at 0 instead of 0",
                        (wire, s) -> {
                            wire.send(Frame.offset(FrameKind.END, s, 1, 0));
                            wire.send(Frame.offset(FrameKind.END, s, 1, 0));
                        }),
                breach(
                        "data came for offset 5 instead of 5",
                        (wire, s) -> {
                            endAt(wire, s, 5);
                            wire.send(data(s, 1, 5, 1));
                        }));
    }

    private static Stream<Arguments> misplacedFrames() {
        return Stream.of(
                breach(
                        "credit came for channel 1",
                        (wire, s) -> wire.send(Frame.offset(FrameKind.CREDIT, s, 1, 9))),
                breach(
                        "a frame of kind END has 7 bytes instead of 8",
                        (wire, s) -> wire.send(new Frame(FrameKind.END, 1, false, s, new byte[7]))),
                breach(
                        "a PING has not 8 bytes",
                        (wire, s) -> wire.send(Frame.fields(FrameKind.PING, 0, new byte[7]))),
                breach(
                        "an unexpected OPEN came",
                        (wire, s) -> wire.send(Frame.fields(FrameKind.OPEN, 7, new byte[0]))),
                breach(
                        "an unexpected WELCOME came",
                        (wire, s) -> wire.send(Frame.fields(FrameKind.WELCOME, 0, new byte[0]))));
    }

    private static Stream<Arguments> falseResults() {
        return Stream.of(
                breach(
                        "before the end of its output",
                        (wire, s) ->
                                result(wire, s, new FieldsWriter().number(Tag.EXIT_STATUS, 0))),
                breach(
                        "a field is cut off",
                        (wire, s) -> wire.send(Frame.fields(FrameKind.RESULT, s, new byte[5]))),
                breach(
                        "field 0 claims more bytes",
                        (wire, s) ->
                                wire.send(
                                        Frame.fields(
                                                FrameKind.RESET,
                                                s,
                                                new byte[] {0, 0, 127, 1, 1, 1, 1}))),
                breach(
                        "wrote less than came from it",
                        (wire, s) -> ended(wire, s, lengths(4, 0).number(Tag.EXIT_STATUS, 0))),
                breach(
                        "STDERR_LENGTH is missing",
                        (wire, s) ->
                                ended(wire, s, new FieldsWriter().number(Tag.STDOUT_LENGTH, 5))));
    }

    private static Stream<Arguments> falseEndings() {
        return Stream.of(
                breach("in no way, or in several", (wire, s) -> ended(wire, s, lengths(5, 0))),
                breach(
                        "in no way, or in several",
                        (wire, s) ->
                                ended(
                                        wire,
                                        s,
                                        lengths(5, 0)
                                                .number(Tag.SIGNAL, 1)
                                                .number(Tag.EXIT_STATUS, 1))),
                breach(
                        "in no way, or in several",
                        (wire, s) ->
                                ended(
                                        wire,
                                        s,
                                        lengths(5, 0)
                                                .number(Tag.SIGNAL, 1)
                                                .number(Tag.TIMED_OUT, 1))),
                breach(
                        "EXIT_STATUS is missing or out of range",
                        (wire, s) -> ended(wire, s, lengths(5, 0).number(Tag.EXIT_STATUS, 256))),
                breach(
                        "EXIT_STATUS is no integer",
                        (wire, s) ->
                                ended(wire, s, lengths(5, 0).bytes(Tag.EXIT_STATUS, new byte[4]))));
    }

    @ParameterizedTest(name = "{index} {0}")
    @MethodSource("breaches")
    void aBreachOfTheProtocolClosesTheConnectionOnce(String message, Breach breach)
            throws Exception {
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            breach.commit(wire, wire.next(FrameKind.OPEN).stream());
                        });
        var guest = Given.connect(channel);
        var attempt =
                guest.run(RunningExec.of(Given.exec("x", "", new byte[0], LIMIT)), Given.soon());
        var why = assertInstanceOf(ExecAttempt.Cut.class, attempt).why();
        assertEquals(Code.UNAVAILABLE, why.code());
        assertTrue(
                why.getMessage().contains("vm-1 broke the protocol")
                        && why.getMessage().contains(message),
                why.getMessage());
        assertFalse(guest.isOpen());
        assertFalse(channel.isOpen());
    }

    @Test
    void aFrameThatIsCutOffEndsTheConnection() throws Exception {
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            wire.raw(
                                    FrameWriter.encode(
                                                    data(
                                                            wire.next(FrameKind.OPEN).stream(),
                                                            1,
                                                            0,
                                                            5))
                                            .limit(19));
                            wire.close();
                        });
        var guest = Given.connect(channel);
        var attempt =
                guest.run(RunningExec.of(Given.exec("x", "", new byte[0], LIMIT)), Given.soon());
        assertEquals(
                Code.UNAVAILABLE, assertInstanceOf(ExecAttempt.Cut.class, attempt).why().code());
        assertFalse(guest.isOpen());
    }

    @Test
    void randomBytesNeverBringMoreThanAClosedConnection() throws Exception {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            var frames =
                    List.of(
                            data(1, 1, 0, 1 + random.nextInt(900)),
                            Frame.offset(FrameKind.END, 1, 1, 5),
                            data(1, 2, 0, 7));
            var bytes = ByteBuffer.allocate(4096);
            frames.forEach(frame -> bytes.put(FrameWriter.encode(frame)));
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
            var attempt =
                    guest.run(
                            RunningExec.of(Given.exec("x", "", new byte[0], LIMIT)), Given.soon());
            assertInstanceOf(ExecAttempt.Cut.class, attempt, () -> "seed " + seed);
        }
    }

    @Test
    void whatCameBeforeABreachIsKeptForTheNextConnection() throws Exception {
        var running = RunningExec.of(Given.exec("x", "", new byte[0], LIMIT));
        var first =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            int s = wire.next(FrameKind.OPEN).stream();
                            wire.send(data(s, 1, 0, 5));
                            wire.raw(new byte[16]);
                        });
        assertInstanceOf(ExecAttempt.Cut.class, Given.connect(first).run(running, Given.soon()));
        var second =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            var open = wire.next(FrameKind.OPEN);
                            assertEquals(
                                    5, Fields.parse(open.payload()).number(Tag.STDOUT_OFFSET, 9));
                            wire.send(data(open.stream(), 1, 5, 2));
                            wire.send(Frame.offset(FrameKind.END, open.stream(), 1, 7));
                            wire.send(Frame.offset(FrameKind.END, open.stream(), 2, 0));
                            result(wire, open.stream(), lengths(7, 0).number(Tag.TIMED_OUT, 1));
                        });
        var attempt =
                assertInstanceOf(
                        ExecAttempt.Ended.class, Given.connect(second).run(running, Given.soon()));
        assertArrayEquals(
                new byte[7],
                assertInstanceOf(ExecOutcome.TimedOut.class, attempt.outcome()).output().stdout());
    }
}
