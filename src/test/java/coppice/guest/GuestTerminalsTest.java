package coppice.guest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(120)
class GuestTerminalsTest {
    private static final Optional<String> ANYBODY = Optional.empty();
    private static final TerminalName.Slug MAIN = new TerminalName.Slug("main");

    private final FakeGuest vm = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin));
    private final Random random = Seed.random(GuestTerminalsTest.class);

    @AfterEach
    void unplug() throws IOException {
        assertTrue(
                vm.done().stream().noneMatch(what -> what.startsWith("breach")),
                () -> vm.done().toString());
        vm.close();
    }

    private static NewTerminal terminal(String command, Optional<TerminalName.Slug> slug) {
        return new NewTerminal(Optional.of(command), ANYBODY, 80, 24, slug, false);
    }

    private static Failure failing(Code code, Executable action) {
        var failure = assertThrows(Failure.class, action);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }

    private static byte[] read(TerminalStream stream, int length) {
        var all = new ByteArrayOutputStream();
        while (all.size() < length) {
            all.writeBytes(
                    assertInstanceOf(TerminalOutput.Bytes.class, stream.read(Given.soon()))
                            .bytes());
        }
        return all.toByteArray();
    }

    @Test
    void everyByteIsReadOnceInOrderWhateverBreaksInBetween() throws Exception {
        var all = new byte[3_000_000];
        random.nextBytes(all);
        try (var first =
                Given.connect(vm.plug())
                        .terminals()
                        .open(terminal("sh", Optional.of(MAIN)), Given.soon())) {
            assertTrue(first.fresh());
        }
        var writer = Thread.ofVirtual().start(() -> writeInParts(all));
        var seen = new ByteArrayOutputStream();
        int attached = 0;
        for (boolean isEnded = false; !isEnded; attached++) {
            assertTrue(attached < 10_000);
            isEnded = readUntilCut(seen);
        }
        writer.join();
        assertArrayEquals(all, seen.toByteArray());
        assertTrue(attached > 3, "attached " + attached);
    }

    private void writeInParts(byte[] all) {
        var sizes = new Random(all.length);
        for (int done = 0; done < all.length; ) {
            int length = Math.min(all.length - done, 1 + sizes.nextInt(60_000));
            synchronized (vm) {
                vm.terminals()
                        .session(1)
                        .write(java.util.Arrays.copyOfRange(all, done, done + length));
                if (done + length == all.length) {
                    vm.terminals().session(1).end(7);
                }
                vm.notifyAll();
            }
            done += length;
        }
    }

    private boolean readUntilCut(ByteArrayOutputStream seen) throws IOException {
        long cut = seen.size() > 2_500_000 ? Long.MAX_VALUE : 400 + random.nextLong(500_000);
        try (var stream =
                Given.connect(vm.plug(Long.MAX_VALUE, cut))
                        .terminals()
                        .attach(MAIN, ANYBODY, OptionalLong.of(seen.size()), Given.soon())) {
            while (true) {
                assertEquals(seen.size(), stream.offset());
                switch (stream.read(Given.soon())) {
                    case TerminalOutput.Bytes(var bytes) -> seen.writeBytes(bytes);
                    case TerminalOutput.Nothing _ -> throw new AssertionError("silence");
                    case TerminalOutput.Ended(var end) -> {
                        assertEquals(new TerminalEnd.Exited(7), end);
                        return true;
                    }
                    case TerminalOutput.Cut _ -> {
                        return false;
                    }
                    case TerminalOutput.TooSlow _, TerminalOutput.Closed _ ->
                            throw new AssertionError("nobody did that");
                }
            }
        } catch (Failure e) {
            assertEquals(Code.UNAVAILABLE, e.code());
            return false;
        }
    }

    @Test
    void whatIsTypedArrivesAndItsEndIsTold() throws Exception {
        vm.withWindow(1 + random.nextInt(5000));
        var terminals = Given.connect(vm.plug()).terminals();
        try (var stream = terminals.open(terminal("sh", Optional.empty()), Given.soon())) {
            assertInstanceOf(TerminalOutput.Nothing.class, stream.read(Deadline.in(Duration.ZERO)));
            var typed = new byte[300_000];
            random.nextBytes(typed);
            stream.type(typed, Given.soon());
            assertArrayEquals(typed, read(stream, typed.length));
            assertEquals(300_000, stream.offset());
            stream.type("exit 3".getBytes(UTF_8), Given.soon());
            assertEquals(
                    new TerminalOutput.Ended(new TerminalEnd.Exited(3)), stream.read(Given.soon()));
            stream.type("to nobody".getBytes(UTF_8), Given.soon());
        }
        try (var again =
                terminals.attach(
                        new TerminalName.Number(1), ANYBODY, OptionalLong.empty(), Given.soon())) {
            assertEquals(Optional.of(new TerminalEnd.Exited(3)), again.description().end());
            read(again, 300_000);
            assertInstanceOf(TerminalOutput.Ended.class, again.read(Given.soon()));
        }
    }

    @Test
    void aSlugIsOpenedOnceAndAttachedToAfterwards() throws Exception {
        var terminals = Given.connect(vm.plug()).terminals();
        try (var first = terminals.open(terminal("sh", Optional.of(MAIN)), Given.soon());
                var second = terminals.open(terminal("other", Optional.of(MAIN)), Given.soon())) {
            assertTrue(first.fresh());
            assertFalse(second.fresh());
            assertEquals(first.description(), second.description());
            first.type("hello".getBytes(UTF_8), Given.soon());
            assertArrayEquals("hello".getBytes(UTF_8), read(second, 5));
            var others =
                    new NewTerminal(
                            Optional.empty(),
                            Optional.of("other"),
                            80,
                            24,
                            Optional.of(MAIN),
                            false);
            failing(Code.CONFLICT, () -> terminals.open(others, Given.soon()).close());
        }
    }

    @Test
    void sessionsAreListedResizedSignalledAndClosed() throws Exception {
        var terminals = Given.connect(vm.plug()).terminals();
        assertEquals(List.of(), terminals.list(Given.soon()));
        try (var stream = terminals.open(terminal("sh", Optional.of(MAIN)), Given.soon())) {
            terminals.resize(1, ANYBODY, 132, 50, Given.soon());
            terminals.signal(1, Optional.of("app"), 2, Given.soon());
            assertArrayEquals(new byte[] {2}, read(stream, 1));
            var listed = terminals.list(Given.soon()).getFirst();
            assertEquals(132, listed.columns());
            assertEquals(50, listed.rows());
            assertEquals(Optional.of(MAIN), listed.slug());
            failing(Code.NOT_FOUND, () -> terminals.close(1, Optional.of("other"), Given.soon()));
            assertEquals(Optional.empty(), terminals.close(1, ANYBODY, Given.soon()));
            assertInstanceOf(TerminalOutput.Closed.class, stream.read(Given.soon()));
        }
        failing(Code.NOT_FOUND, () -> terminals.resize(1, ANYBODY, 1, 1, Given.soon()));
        failing(Code.BAD_REQUEST, () -> terminals.resize(1, ANYBODY, 0, 1, Given.soon()));
        failing(
                Code.UNAVAILABLE,
                () -> terminals.open(terminal("fail", Optional.empty()), Given.soon()).close());
    }

    @Test
    void typingIsRefusedWhenTheGuestDoesNotRead() throws Exception {
        var guest =
                Given.connect(
                        vm.scripted(
                                wire -> {
                                    wire.welcome();
                                    var open = wire.next(FrameKind.OPEN);
                                    Scripts.terminal(wire, open.stream());
                                    Scripts.answerOnlySync(wire, wire.next(FrameKind.OPEN));
                                }));
        var terminals = guest.terminals();
        try (var stream = terminals.open(terminal("sh", Optional.empty()), Given.soon())) {
            var past = Deadline.in(Duration.ZERO);
            failing(Code.PAYLOAD_TOO_LARGE, () -> stream.type(new byte[(1 << 20) + 1], past));
            stream.type(new byte[1 << 20], past);
            // The agent's window takes 64 KiB away, at most.
            failing(Code.RATE_LIMITED, () -> stream.type(new byte[1 << 17], past));
            guest.sync(Given.soon());
        }
    }

    @Test
    void namesAreNumbersOrSlugs() {
        assertEquals(new TerminalName.Number(12), TerminalName.parse("session", "12"));
        assertEquals(new TerminalName.Slug("12-"), TerminalName.parse("session", "12-"));
        for (var text : List.of("", "A", "a_b", "x".repeat(64), "1".repeat(19), "a\n")) {
            failing(Code.BAD_REQUEST, () -> TerminalName.parse("session", text));
        }
    }

    @Test
    void aCommandCanNameATerminal() throws Exception {
        try (var old = FakeGuest.running(stdin -> Ending.exit(0, stdin, stdin))) {
            var plain = Given.exec("x", "", new byte[0], 9);
            var exec =
                    new Exec(
                            plain.id(),
                            plain.command(),
                            plain.user(),
                            plain.environment(),
                            plain.stdin(),
                            plain.timeLimit(),
                            plain.outputLimit(),
                            plain.directory(),
                            Optional.of(MAIN));
            assertEquals(
                    Optional.of("main"), Fields.parse(exec.fields().toBytes()).text(Tag.TERMINAL));
            var guest = Given.connect(old.without("pty.open").plug());
            failing(Code.AGENT_UNSUPPORTED, () -> guest.exec(exec, Given.soon()));
            assertInstanceOf(ExecOutcome.Exited.class, guest.exec(plain, Given.soon()));
        }
    }
}
