package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolTest {
    private static final Duration STALL = Duration.ofSeconds(10);

    @TempDir private Path directory;

    private static long append(Spool spool, long received, long most, byte[] chunk) {
        var source = Spool.source(new ByteArrayInputStream(chunk));
        return spool.append(received, most, source, STALL, Deadline.in(STALL));
    }

    @Test
    void itHoldsWhatWasCountedWhateverWasLeftBehindIt() throws IOException {
        var random = Seed.random(getClass());
        var spool = new Spool(directory.resolve("up"));
        var bytes = new byte[1_000_000];
        random.nextBytes(bytes);
        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(1 + random.nextInt(200_000), bytes.length - at);
            var chunk = Arrays.copyOfRange(bytes, at, at + length);
            if (random.nextBoolean()) { // a server that died before it counted
                append(spool, at, length, chunk);
                Files.write(spool.file(), new byte[999], StandardOpenOption.APPEND);
            }
            assertEquals(length, append(spool, at, bytes.length - at, chunk));
            at += length;
        }
        assertArrayEquals(bytes, Files.readAllBytes(spool.file()));
        var crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        var hash = HexFormat.of().formatHex(GuestFileAccess.sha256().digest(bytes));
        assertEquals(
                new Spool.Sums(Optional.of(hash), crc.getValue()),
                spool.sums(Optional.of(GuestFileAccess.sha256()), bytes.length));
        assertEquals(
                new Spool.Sums(Optional.empty(), crc.getValue()),
                spool.sums(Optional.empty(), bytes.length));
    }

    @Test
    void aChunkThatFailsLeavesWhatWasThere() throws IOException {
        var spool = new Spool(directory.resolve("up"));
        append(spool, 0, 3, new byte[] {1, 2, 3});
        var tooLong = assertThrows(Failure.class, () -> append(spool, 3, 2, new byte[3]));
        assertEquals(Code.BAD_REQUEST, tooLong.code());
        FileSource cut =
                (into, at, _, _) -> {
                    if (Files.exists(directory) && spool.file().toFile().length() == 3) {
                        into[at] = 9;
                        return 1;
                    }
                    throw new Failure(Code.BAD_REQUEST, "the body ends early");
                };
        assertThrows(Failure.class, () -> spool.append(3, 99, cut, STALL, Deadline.in(STALL)));
        assertArrayEquals(new byte[] {1, 2, 3}, Files.readAllBytes(spool.file()));
    }

    @Test
    void aSpoolThatLostBytesIsNotFilledUpWithZeros() {
        var spool = new Spool(directory.resolve("up"));
        append(spool, 0, 3, new byte[] {1, 2, 3});
        var lost = assertThrows(Failure.class, () -> append(spool, 4, 9, new byte[1]));
        assertEquals(Code.UNAVAILABLE, lost.code());
    }
}
