package coppice.guest;

import static coppice.guest.Scripts.data;
import static coppice.guest.Scripts.first;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.FakeGuest.Ending;
import coppice.guest.FakeGuest.Script;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class GreetingTest {
    private final FakeGuest vm =
            FakeGuest.running(
                    stdin -> Ending.exit(stdin.length % 256, stdin, "err".getBytes(UTF_8)));

    @AfterEach
    void unplug() throws IOException {
        assertTrue(
                vm.done().stream().noneMatch(what -> what.startsWith("breach")),
                () -> vm.done().toString());
        vm.close();
    }

    @Test
    void theConnectionBeginsAsTheSpecificationSays() throws Exception {
        var machineId = "0123456789abcdef0123456789abcdef";
        var identity = Optional.of(new Identity("copy-1", machineId));
        var clock = InstantSource.fixed(Given.NOW);
        var bytes = beginning(new Hello(Given.GENERATION, clock, new byte[64], identity));
        assertArrayEquals(new byte[16400], Arrays.copyOf(bytes, 16400));
        assertEquals("COPPICE-AGENT-1\n", new String(bytes, 16400, 16, UTF_8));
        var hex = HexFormat.of().formatHex(bytes, 16432, bytes.length);
        assertTrue(hex.startsWith("c701000000000000000000b8"), hex);
        assertTrue(
                hex.endsWith(
                        "0002000000080000000000000001"
                                + "00030000001000112233445566778899aabbccddeeff"
                                + "0004000000081886caf21c963206"
                                + ("000500000040" + "00".repeat(64))
                                + "0006000000080000000000040000"
                                + "000700000006636f70792d31"
                                + ("000800000020"
                                        + HexFormat.of().formatHex(machineId.getBytes(UTF_8)))),
                hex);
    }

    /// What a host sends before it hears anything, up to the end of a HELLO of 0xb8 bytes.
    private static byte[] beginning(Hello hello) throws Exception {
        var pair = SocketPair.open();
        try (var host = pair.host();
                var agent = pair.agent();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var connecting = threads.submit(() -> Guest.connect("vm-1", host, hello, Given.soon()));
            var bytes = ByteBuffer.allocate(16400 + 16 + 16 + 16 + 0xb8);
            while (bytes.hasRemaining()) {
                assertTrue(agent.read(bytes) > 0);
            }
            agent.shutdownOutput();
            assertThrows(ExecutionException.class, connecting::get);
            return bytes.array();
        }
    }

    @Test
    void anAgentIsHeardBehindStaleBytes() throws Exception {
        var stale = new byte[1_000_000];
        new Random(1).nextBytes(stale);
        System.arraycopy(Guest.MAGIC, 0, stale, 500, 16);
        System.arraycopy(Guest.MAGIC, 0, stale, stale.length - 16, 16);
        var guest = Given.connect(vm.withStaleBytes(stale).plug());
        assertEquals("fake 1", guest.agentVersion());
        assertTrue(guest.can("exec"));
        assertFalse(guest.can("fly"));
    }

    @Test
    void aRefusalIsAnAnswerAndEndsTheConnection() throws Exception {
        var channel = vm.refusing("FAILED", "no\nentropy").plug();
        assertEquals(
                new Greeting.Refused("FAILED", "noentropy"),
                Guest.connect("vm-1", channel, Given.hello(), Given.soon()));
        assertFalse(channel.isOpen());
    }

    @Test
    void anAgentThatAnswersLateHasItsClockSetAgain() throws Exception {
        var clock = new CountDownLatch(1);
        var channel =
                vm.scripted(
                        wire -> {
                            // As long as a boot: the deadline of a channel that says nothing.
                            assertFalse(await(new CountDownLatch(1), Duration.ofMillis(150)));
                            wire.welcome(wire.honestWelcome().text(Tag.CAPABILITY, "clock"));
                            var open = wire.next(FrameKind.OPEN);
                            assertEquals(
                                    "clock",
                                    Fields.parse(open.payload()).text(Tag.OPERATION).orElseThrow());
                            clock.countDown();
                            wire.send(Frame.fields(FrameKind.RESULT, open.stream(), new byte[0]));
                        });
        assertTrue(Given.connect(channel).isOpen());
        assertEquals(0, clock.getCount());
    }

    static Stream<Arguments> falseGreetings() {
        return Stream.of(
                greeting(
                        "4194304 bytes came without the start",
                        wire -> wire.raw(new byte[5 << 20])),
                greeting("in time", wire -> wire.raw(new byte[3 << 20])),
                greeting("in time", _ -> {}),
                greeting(
                        "in time",
                        wire -> {
                            wire.raw(Guest.MAGIC);
                            wire.raw(new byte[16]);
                            wire.send(
                                    Frame.fields(
                                            FrameKind.WELCOME, 0, wire.honestWelcome().toBytes()));
                        }),
                greeting("before the connection began", Wire::close),
                greeting("DATA came instead of WELCOME", wire -> first(wire, data(1, 1, 0, 5))));
    }

    static Stream<Arguments> falseWelcomes() {
        return Stream.of(
                greeting(
                        "speaks version 2",
                        wire -> wire.welcome(new FieldsWriter().number(Tag.VERSION, 2))),
                greeting("VERSION is missing", wire -> wire.welcome(new FieldsWriter())),
                greeting(
                        "for another generation",
                        wire ->
                                wire.welcome(
                                        new FieldsWriter()
                                                .number(Tag.VERSION, 1)
                                                .bytes(Tag.GENERATION, new byte[16]))),
                greeting(
                        "GENERATION has not 16 bytes",
                        wire ->
                                wire.welcome(
                                        new FieldsWriter()
                                                .number(Tag.VERSION, 1)
                                                .bytes(Tag.GENERATION, new byte[9]))),
                greeting(
                        "WINDOW is missing",
                        wire ->
                                wire.welcome(
                                        new FieldsWriter()
                                                .number(Tag.VERSION, 1)
                                                .uuid(Tag.GENERATION, wire.generation()))),
                greeting(
                        "a field is cut off",
                        wire -> first(wire, Frame.fields(FrameKind.WELCOME, 0, new byte[3]))));
    }

    private static Arguments greeting(String message, Script script) {
        return Arguments.of(message, script);
    }

    @ParameterizedTest(name = "{index} {0}")
    @MethodSource({"falseGreetings", "falseWelcomes"})
    void aFalseGreetingGivesNoGuest(String message, Script script) throws Exception {
        var channel = vm.scripted(script);
        var deadline = message.equals("in time") ? Given.atOnce() : Given.soon();
        var failure =
                assertThrows(
                        Failure.class,
                        () -> Guest.connect("vm-1", channel, Given.hello(), deadline));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains(message), failure.getMessage());
        assertFalse(channel.isOpen());
    }

    @Test
    void aHostThatCannotEvenWriteItsGreetingGivesUpAtItsDeadline() throws Exception {
        var pair = SocketPair.open();
        try (var agent = pair.agent()) {
            var filler = ByteBuffer.allocate(1 << 20);
            pair.host().configureBlocking(false);
            while (pair.host().write(filler.clear()) > 0) {}
            pair.host().configureBlocking(true);
            var failure =
                    assertThrows(
                            Failure.class,
                            () ->
                                    Guest.connect(
                                            "vm-1", pair.host(), Given.hello(), Given.atOnce()));
            assertTrue(failure.getMessage().contains("in time"));
            assertFalse(pair.host().isOpen());
            assertTrue(agent.isOpen());
        }
    }

    private static boolean await(CountDownLatch latch, Duration limit) {
        try {
            return latch.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
