package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class FrameTest {
    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @Test
    void theBytesOfAFrameAreThoseOfTheSpecification() {
        var frame = Frame.data(258, 2, 5, "hello".getBytes(), 1, 3);
        assertEquals(
                "c7040200000001020000000b" + "facab3f1" + "0000000000000005" + "656c6c",
                HexFormat.of().formatHex(bytes(List.of(frame))));
    }

    @Test
    void theChecksumIsThatOfTheIscsiStandard() {
        var crc = new CRC32C();
        crc.update("123456789".getBytes());
        assertEquals(0xE3069283L, crc.getValue());
    }

    @Test
    void whateverIsWrittenIsReadInWhateverPieces() throws IOException {
        for (int round = 0; round < 200; round++) {
            var frames = frames();
            assertEquals(frames, read(pieces(bytes(frames))), () -> "seed " + seed);
        }
    }

    @Test
    void anyChangedBitIsNoticed() {
        for (int round = 0; round < 500; round++) {
            var frames = frames();
            var bytes = bytes(frames);
            int bit = random.nextInt(bytes.length * 8);
            bytes[bit / 8] ^= (byte) (1 << bit % 8);
            var read = new ArrayList<Frame>();
            assertThrows(
                    ProtocolException.class,
                    () -> readInto(read, pieces(bytes)),
                    () -> "seed " + seed);
            assertEquals(frames.subList(0, read.size()), read, () -> "seed " + seed);
        }
    }

    @Test
    void aCutIsAnEndBetweenFramesAndAFaultInsideOne() throws IOException {
        for (int round = 0; round < 500; round++) {
            var frames = frames();
            var all = bytes(frames);
            int cut = random.nextInt(all.length);
            var read = new ArrayList<Frame>();
            var bytes = Arrays.copyOf(all, cut);
            boolean between = boundaries(frames).contains(cut);
            if (between) {
                readInto(read, pieces(bytes));
            } else {
                assertThrows(
                        ProtocolException.class,
                        () -> readInto(read, pieces(bytes)),
                        () -> "seed " + seed);
            }
            assertEquals(frames.subList(0, read.size()), read, () -> "seed " + seed);
        }
    }

    @Test
    void randomBytesAreNoFrames() {
        for (int round = 0; round < 2000; round++) {
            var bytes = new byte[1 + random.nextInt(40_000)];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                bytes[0] = Frame.FIRST_BYTE;
                Arrays.fill(bytes, Math.min(8, bytes.length), Math.min(10, bytes.length), (byte) 0);
            }
            assertThrows(ProtocolException.class, () -> read(pieces(bytes)), () -> "seed " + seed);
        }
    }

    @Test
    void framesOfUnknownKindsAreSkipped() throws IOException {
        var known = Frame.offset(FrameKind.END, 1, 1, 7);
        var bytes = new ByteArrayOutputStream();
        for (int kind : new int[] {0, 11, 255}) {
            bytes.writeBytes(ofKind(kind));
            bytes.writeBytes(bytes(List.of(known)));
        }
        assertEquals(List.of(known, known, known), read(pieces(bytes.toByteArray())));
    }

    @Test
    void theMarkIsFoundBehindAnything() throws IOException {
        var mark = new byte[32];
        random.nextBytes(mark);
        for (int round = 0; round < 100; round++) {
            var before = new byte[random.nextInt(50_000)];
            random.nextBytes(before);
            int part = random.nextInt(32);
            if (before.length > part) {
                System.arraycopy(mark, 0, before, before.length - part, part);
            }
            var frame = Frame.offset(FrameKind.CREDIT, 3, 0, 9);
            var bytes = new ByteArrayOutputStream();
            bytes.writeBytes(before);
            bytes.writeBytes(mark);
            bytes.writeBytes(bytes(List.of(frame)));
            var reader = new FrameReader(pieces(bytes.toByteArray()));
            reader.skipPast(mark, before.length);
            assertEquals(frame, reader.next().orElseThrow(), () -> "seed " + seed);
            assertTrue(reader.next().isEmpty());
        }
    }

    @Test
    void theMarkIsNotLookedForEndlessly() throws IOException {
        var mark = new byte[32];
        var others = new byte[5000];
        Arrays.fill(others, (byte) 1);
        var tooFar = new ByteArrayOutputStream();
        tooFar.writeBytes(others);
        tooFar.writeBytes(mark);
        new FrameReader(pieces(tooFar.toByteArray())).skipPast(mark, 5000);
        assertThrows(
                ProtocolException.class,
                () -> new FrameReader(pieces(tooFar.toByteArray())).skipPast(mark, 4999));
        assertThrows(
                ProtocolException.class,
                () -> new FrameReader(pieces(others)).skipPast(mark, 5001));
    }

    private List<Frame> frames() {
        return Stream.generate(this::frame).limit(1 + random.nextInt(5)).toList();
    }

    private Frame frame() {
        var sizes =
                new int[] {
                    0,
                    1,
                    8,
                    random.nextInt(100),
                    random.nextInt(Frame.MAX_PAYLOAD),
                    Frame.MAX_PAYLOAD - 1,
                    Frame.MAX_PAYLOAD
                };
        var payload = new byte[sizes[random.nextInt(sizes.length)]];
        random.nextBytes(payload);
        var kind = FrameKind.values()[random.nextInt(FrameKind.values().length)];
        return new Frame(
                kind, random.nextInt(256), random.nextBoolean(), random.nextInt(), payload);
    }

    private static List<Integer> boundaries(List<Frame> frames) {
        var boundaries = new ArrayList<Integer>(List.of(0));
        frames.forEach(
                frame ->
                        boundaries.add(
                                boundaries.getLast() + Frame.HEADER + frame.payload().length));
        return boundaries;
    }

    private static byte[] bytes(List<Frame> frames) {
        var bytes = new ByteArrayOutputStream();
        frames.forEach(frame -> bytes.writeBytes(FrameWriter.encode(frame).array()));
        return bytes.toByteArray();
    }

    private static byte[] ofKind(int kind) {
        var bytes = FrameWriter.encode(Frame.offset(FrameKind.END, 1, 1, 8));
        bytes.put(1, (byte) kind);
        var crc = new CRC32C();
        crc.update(bytes.array(), 0, 12);
        crc.update(bytes.array(), Frame.HEADER, bytes.limit() - Frame.HEADER);
        return bytes.putInt(12, (int) crc.getValue()).array();
    }

    private static List<Frame> read(ReadableByteChannel channel) throws IOException {
        var frames = new ArrayList<Frame>();
        readInto(frames, channel);
        return frames;
    }

    private static void readInto(List<Frame> frames, ReadableByteChannel channel)
            throws IOException {
        var reader = new FrameReader(channel);
        for (var frame = reader.next(); frame.isPresent(); frame = reader.next()) {
            frames.add(frame.get());
        }
    }

    /// The bytes, a random number of them at a time.
    private ReadableByteChannel pieces(byte[] bytes) {
        int most = 1 << random.nextInt(4, 16);
        var whole = Channels.newChannel(new ByteArrayInputStream(bytes));
        return new ReadableByteChannel() {
            @Override
            public int read(ByteBuffer target) throws IOException {
                var part =
                        target.slice()
                                .limit(1 + random.nextInt(Math.min(most, target.remaining())));
                int count = whole.read(part);
                target.position(target.position() + Math.max(0, count));
                return count;
            }

            @Override
            public boolean isOpen() {
                return whole.isOpen();
            }

            @Override
            public void close() throws IOException {
                whole.close();
            }
        };
    }
}
