package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ComplaintsTest {
    @Test
    void oneIsSaidInASecondAndTheOthersAreCounted() {
        var now = new AtomicLong(-5);
        var said = new ArrayList<String>();
        var complaints = new Complaints(now::get, (what, _) -> said.add(what));
        for (int i = 0; i < 3000; i++) {
            complaints.add("it broke", new IllegalStateException());
            now.addAndGet(Duration.ofMillis(1).toNanos());
        }
        assertEquals(
                List.of("it broke", "it broke; 999 before it", "it broke; 999 before it"), said);
    }
}
