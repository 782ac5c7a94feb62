package coppice.guest;

import static coppice.guest.Scripts.channel;
import static coppice.guest.Scripts.data;
import static coppice.guest.Scripts.described;
import static coppice.guest.Scripts.result;
import static coppice.guest.Scripts.terminal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Guests that lie while files and terminals flow.
@Timeout(60)
class FlowBreachTest {
    private static final FieldsWriter NOTHING = new FieldsWriter();

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));

    @AfterEach
    void unplug() throws IOException {
        vm.close();
    }

    private interface Breach {
        void commit(Wire wire, int stream) throws IOException;
    }

    private interface Use {
        void of(Guest guest);
    }

    private static Arguments breach(String message, Use use, Breach breach) {
        return Arguments.of(message, use, breach);
    }

    static void read(Guest guest) {
        try (var reading =
                guest.files().read("/f", Optional.empty(), FileRange.WHOLE, Given.soon())) {
            for (var part = new byte[5000];
                    reading.read(part, 0, part.length, Given.soon()) >= 0; ) {}
        }
    }

    /// Reads when the connection is closed, and so grants the guest no more than it had at first.
    private static void readLate(Guest guest) {
        try (var reading =
                guest.files().read("/f", Optional.empty(), FileRange.WHOLE, Given.soon())) {
            assertTrue(Given.closes(guest), "the guest may send without end");
            while (reading.read(new byte[5000], 0, 5000, Given.soon()) >= 0) {}
        }
    }

    private static void write(Guest guest) {
        write(guest, 1 << 20);
    }

    private static void write(Guest guest, int size) {
        var file = new NewFile(size, OptionalInt.empty(), OptionalLong.empty());
        try (var writing = guest.files().write("/f", Optional.empty(), file)) {
            writing.write(new byte[size], 0, size, Given.soon());
            writing.commit(Given.soon());
        }
    }

    private static void list(Guest guest) {
        guest.files().list("/", Optional.empty(), false, Given.soon());
    }

    private static void watch(Guest guest) {
        try (var watch = guest.files().watch("/", Optional.empty(), Given.soon())) {
            assertTrue(watch.next(Duration.ofSeconds(30)).isEmpty());
        }
    }

    private static void use(Guest guest) {
        var wanted =
                new NewTerminal(
                        Optional.empty(), Optional.empty(), 80, 24, Optional.empty(), false);
        try (var terminal = guest.terminals().open(wanted, Given.soon())) {
            var output = terminal.read(Given.soon());
            while (output instanceof TerminalOutput.Bytes) {
                output = terminal.read(Given.soon());
            }
            throw assertInstanceOf(TerminalOutput.Cut.class, output).why();
        }
    }

    static Stream<Arguments> breaches() {
        return Stream.of(
                        readings(),
                        falseEnds(),
                        writings(),
                        entries(),
                        listings(),
                        events(),
                        terminals(),
                        endsOfTerminals())
                .flatMap(Function.identity());
    }

    private static Stream<Arguments> readings() {
        Use read = FlowBreachTest::read;
        return Stream.of(
                breach(
                        "the result of file.read came too early",
                        read,
                        (w, s) -> result(w, s, NOTHING)),
                breach("KIND is missing", read, (w, s) -> channel(w, s, 2, NOTHING)),
                breach(
                        "more data came than was asked for",
                        read,
                        (w, s) -> w.send(data(s, 2, 0, 4097))),
                breach(
                        "more data came than was asked for",
                        read,
                        (w, s) -> {
                            w.send(data(s, 1, 0, 10));
                            described(w, s, 9);
                        }),
                breach(
                        "more data came than was asked for",
                        FlowBreachTest::readLate,
                        (w, s) -> {
                            described(w, s, Long.MAX_VALUE);
                            for (int sent = 0; sent <= 4 * Inlet.WINDOW; sent += 1 << 14) {
                                w.send(data(s, 1, sent / (1 << 14) * 16000L, 16000));
                            }
                        }));
    }

    private static Stream<Arguments> falseEnds() {
        Use read = FlowBreachTest::read;
        return Stream.of(
                breach(
                        "9 of 10 bytes of a file came",
                        read,
                        (w, s) -> {
                            described(w, s, 10);
                            w.send(data(s, 1, 0, 9));
                            w.send(Frame.offset(FrameKind.END, s, 1, 9));
                            result(w, s, NOTHING);
                        }),
                breach(
                        "10 of 10 bytes of a file came",
                        read,
                        (w, s) -> {
                            described(w, s, 10);
                            w.send(data(s, 1, 0, 10));
                            result(w, s, NOTHING);
                        }));
    }

    private static Stream<Arguments> writings() {
        Use write = FlowBreachTest::write;
        return Stream.of(
                breach(
                        "the result of file.write came too early",
                        write,
                        (w, s) -> result(w, s, new FieldsWriter().number(Tag.SIZE, 1 << 20))),
                breach(
                        "another file was written",
                        guest -> write(guest, 100_000), // more than the agent's first window
                        (w, s) -> {
                            w.next(FrameKind.DATA);
                            result(w, s, new FieldsWriter().number(Tag.SIZE, 100_000));
                        }),
                breach("DATA came on channel 1", write, (w, s) -> w.send(data(s, 1, 0, 1))),
                breach(
                        "an offset is beyond 2^63",
                        write,
                        (w, s) -> w.send(Frame.offset(FrameKind.CREDIT, s, 0, -1))),
                breach(
                        "another file was written",
                        write,
                        (w, s) -> {
                            w.send(Frame.offset(FrameKind.CREDIT, s, 0, Long.MAX_VALUE));
                            w.next(FrameKind.END);
                            result(w, s, new FieldsWriter().number(Tag.SIZE, 5));
                        }));
    }

    private static Stream<Arguments> entries() {
        Use list = FlowBreachTest::list;
        return Stream.of("", ".", "..", "a/b", "../../etc/passwd", "a\0", "x".repeat(5000))
                .map(
                        name ->
                                breach(
                                        "no name that can be one",
                                        list,
                                        (w, s) -> {
                                            channel(w, s, 1, entry(name, 1));
                                            result(w, s, NOTHING);
                                        }));
    }

    private static Stream<Arguments> listings() {
        Use list = FlowBreachTest::list;
        return Stream.of(
                breach(
                        "KIND is missing or out of range",
                        list,
                        (w, s) -> {
                            channel(w, s, 1, entry("a", 5));
                            result(w, s, NOTHING);
                        }),
                breach(
                        "KIND is missing or out of range",
                        list,
                        (w, s) -> {
                            channel(w, s, 1, entry("a", 0));
                            result(w, s, NOTHING);
                        }),
                breach("before the end of its data", list, (w, s) -> result(w, s, NOTHING)),
                breach(
                        "more data came than was asked for",
                        list,
                        (w, s) -> {
                            for (long at = 0; at <= 16 << 20; at += 16384 - 8) {
                                w.send(data(s, 1, at, 16384 - 8));
                            }
                        }));
    }

    private static FieldsWriter entry(String name, int kind) {
        return new FieldsWriter().text(Tag.NAME, name).number(Tag.KIND, kind);
    }

    private static Stream<Arguments> events() {
        Use watch = FlowBreachTest::watch;
        return Stream.of(
                breach(
                        "the result of file.watch came too early",
                        watch,
                        (w, s) -> result(w, s, NOTHING)),
                breach(
                        "more data came than was asked for",
                        watch,
                        (w, s) -> w.send(data(s, 2, 0, 1))),
                breach(
                        "an event is none",
                        watch,
                        (w, s) -> {
                            channel(w, s, 2, NOTHING);
                            channel(
                                    w,
                                    s,
                                    1,
                                    new FieldsWriter().number(Tag.EVENT, 1).text(Tag.PATH, "a"));
                        }),
                breach(
                        "fields of more than 16384 bytes",
                        watch,
                        (w, s) -> {
                            channel(w, s, 2, NOTHING);
                            var bytes = new FieldsWriter().bytes(Tag.NAME, new byte[9000]);
                            bytes.bytes(Tag.OWNER, new byte[9000]);
                            var all = bytes.toBytes();
                            w.send(Frame.data(s, 1, 0, all, 0, 16000));
                        }));
    }

    private static Stream<Arguments> terminals() {
        Use use = FlowBreachTest::use;
        return Stream.of(
                breach("OFFSET is missing", use, (w, s) -> channel(w, s, 2, terminal())),
                breach(
                        "OFFSET is missing or out of range",
                        use,
                        (w, s) -> channel(w, s, 2, terminal().number(Tag.OFFSET, Long.MAX_VALUE))),
                breach(
                        "a number or a slug that none can have",
                        use,
                        (w, s) -> channel(w, s, 2, terminal().text(Tag.SLUG, "../x"))));
    }

    private static Stream<Arguments> endsOfTerminals() {
        Use use = FlowBreachTest::use;
        return Stream.of(
                breach(
                        "a terminal ended before its output did",
                        use,
                        (w, s) -> {
                            terminal(w, s);
                            w.send(data(s, 1, 0, 3));
                            result(w, s, new FieldsWriter().number(Tag.EXIT_STATUS, 0));
                        }),
                breach(
                        "a terminal ended in no way",
                        use,
                        (w, s) -> {
                            terminal(w, s);
                            channel(w, s, 1, NOTHING);
                            result(w, s, NOTHING);
                        }),
                breach(
                        "a terminal ended in several ways",
                        use,
                        (w, s) -> {
                            terminal(w, s);
                            channel(w, s, 1, NOTHING);
                            result(
                                    w,
                                    s,
                                    new FieldsWriter()
                                            .number(Tag.EXIT_STATUS, 0)
                                            .number(Tag.SIGNAL, 9));
                        }));
    }

    @ParameterizedTest(name = "{index} {0}")
    @MethodSource("breaches")
    void aLieClosesTheConnectionAndFailsTheCall(String message, Use use, Breach breach)
            throws Exception {
        var channel =
                vm.scripted(
                        wire -> {
                            wire.welcome();
                            breach.commit(wire, wire.next(FrameKind.OPEN).stream());
                        });
        var guest = Given.connect(channel);
        var failure = assertThrows(Failure.class, () -> use.of(guest));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(
                failure.getMessage().contains("broke the protocol")
                        && failure.getMessage().contains(message),
                failure.getMessage());
        assertFalse(guest.isOpen());
    }
}
