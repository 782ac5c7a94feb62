package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SlotsTest {

    private static List<Integer> take(Slots slots, int count) {
        return Stream.generate(slots::take).limit(count).toList();
    }

    @Test
    void aSlotThatCameBackIsGivenOutAfterAllOthers() {
        var slots = new Slots(4);
        assertEquals(List.of(1, 2), take(slots, 2));
        slots.release(1);
        assertEquals(List.of(3, 4, 1), take(slots, 3));
        var failure = assertThrows(Failure.class, slots::take);
        assertEquals(Code.CONFLICT, failure.code());
        slots.release(3);
        assertEquals(List.of(3), take(slots, 1));
    }

    @Test
    void theSlotsOfAFormerServerAreKept() {
        var slots = new Slots(4);
        slots.keep(3);
        slots.keep(1);
        assertEquals(List.of(2, 4), take(slots, 2));
    }
}
