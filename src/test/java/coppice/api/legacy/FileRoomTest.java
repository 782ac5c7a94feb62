package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import org.junit.jupiter.api.Test;

class FileRoomTest {
    private final FileRoom room = new FileRoom(Size.ofMib(3));

    @Test
    void largeFilesThatDoNotFitAreToldToComeBackAndFitWhenOthersAreGone() {
        var first = room.take(2 << 20);
        try (var _ = room.take(1 << 20)) {
            var full = assertThrows(Failure.class, () -> room.take(100_000));
            assertEquals(Code.UNAVAILABLE, full.code());
            assertTrue(full.retryAfter().isPresent());
            try (var _ = room.take(64 << 10)) {
                first.close();
            }
            first.close(); // twice is once
            try (var _ = room.take(2 << 20)) {
                assertThrows(Failure.class, () -> room.take(100_000));
            }
        }
        room.take(3 << 20).close();
    }
}
