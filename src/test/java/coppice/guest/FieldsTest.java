package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FieldsTest {
    private static final UUID ID = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

    @Test
    void theBytesOfFieldsAreThoseOfTheSpecification() {
        var fields =
                new FieldsWriter()
                        .text(Tag.OPERATION, "é")
                        .number(Tag.SIZE, 258)
                        .uuid(Tag.EXEC_ID, ID)
                        .instant(Tag.WALL_CLOCK, Instant.ofEpochSecond(2, 3));
        assertEquals(
                "0001"
                        + "00000002"
                        + "c3a9"
                        + "0029"
                        + "00000008"
                        + "0000000000000102"
                        + "0014"
                        + "00000010"
                        + "00112233445566778899aabbccddeeff"
                        + "0004"
                        + "00000008"
                        + "0000000077359403",
                HexFormat.of().formatHex(fields.toBytes()));
    }

    @Test
    void fieldsAreReadAsTheyWereWritten() throws ProtocolException {
        var fields =
                Fields.parse(
                        new FieldsWriter()
                                .text(Tag.CAPABILITY, "a")
                                .bytes(Tag.ENTROPY, new byte[] {1, 2})
                                .text(Tag.CAPABILITY, "")
                                .number(Tag.SIZE, Long.MAX_VALUE)
                                .uuid(Tag.EXEC_ID, ID)
                                .toBytes());
        assertEquals(List.of("a", ""), fields.texts(Tag.CAPABILITY));
        assertEquals(Optional.of("a"), fields.text(Tag.CAPABILITY));
        assertArrayEquals(new byte[] {1, 2}, fields.bytes(Tag.ENTROPY).orElseThrow());
        assertEquals(Long.MAX_VALUE, fields.number(Tag.SIZE).orElseThrow());
        assertEquals(Optional.of(ID), fields.uuid(Tag.EXEC_ID));
        assertEquals(Optional.empty(), fields.text(Tag.USER));
        assertFalse(fields.has(Tag.USER));
    }

    @Test
    void unknownTagsAreSkipped() throws ProtocolException {
        var bytes = new FieldsWriter().text(Tag.USER, "x").number(Tag.COUNT, 4).toBytes();
        bytes[0] = (byte) 0xff;
        assertEquals(4, Fields.parse(bytes).number(Tag.COUNT, 4));
    }

    @Test
    void everyCutInsideAFieldIsAFault() {
        var bytes = new FieldsWriter().text(Tag.USER, "someone").toBytes();
        for (int length = 1; length < bytes.length; length++) {
            var cut = Arrays.copyOf(bytes, length);
            assertThrows(ProtocolException.class, () -> Fields.parse(cut));
        }
    }

    @Test
    void aLengthBeyondTheBytesIsAFault() {
        for (int length : new int[] {5, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            var bytes = ByteBuffer.allocate(10).putShort((short) 1).putInt(length).array();
            assertThrows(ProtocolException.class, () -> Fields.parse(bytes));
        }
    }

    @Test
    void randomBytesAreFieldsOrAFault() {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            var bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 6) {
                Arrays.fill(bytes, 2, 5, (byte) 0);
            }
            try {
                Fields.parse(bytes).number(Tag.SIZE);
            } catch (ProtocolException e) {
                assertFalse(e.getMessage().isEmpty(), () -> "seed " + seed);
            }
        }
    }

    @Test
    void integersOfOtherSizesOrBeyondTheRangeAreFaults() throws ProtocolException {
        var fields =
                Fields.parse(
                        new FieldsWriter()
                                .bytes(Tag.SIZE, new byte[3])
                                .number(Tag.COUNT, -1)
                                .number(Tag.SIGNAL, 65)
                                .toBytes());
        assertThrows(ProtocolException.class, () -> fields.number(Tag.SIZE));
        assertThrows(ProtocolException.class, () -> fields.number(Tag.COUNT));
        assertThrows(ProtocolException.class, () -> fields.number(Tag.SIGNAL, 64));
        assertThrows(ProtocolException.class, () -> fields.number(Tag.WINDOW, 1));
        assertThrows(ProtocolException.class, () -> fields.uuid(Tag.SIZE));
    }

    @Test
    void aGuestsTextIsShortAndHarmless() {
        assertEquals(
                "[31mred evil", GuestText.clean("\u001b[31mred\n \u202eevil\u0000\u200b\ud800"));
        assertEquals(200, GuestText.clean("x".repeat(10_000)).length());
        assertEquals("x".repeat(199), GuestText.clean("x".repeat(199) + "\ud83d\ude00"));
    }
}
