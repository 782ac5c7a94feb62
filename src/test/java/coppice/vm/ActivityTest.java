package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ActivityTest {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
    private final Activity activity = new Activity(now::get, Optional.empty());

    @Test
    void theLastUseIsTheLatestEvenIfTheClockIsSetBack() {
        assertEquals(Optional.empty(), activity.last());
        now.set(Instant.EPOCH.plusSeconds(5));
        activity.touch();
        now.set(Instant.EPOCH.plusSeconds(3));
        activity.touch();
        assertEquals(Optional.of(Instant.EPOCH.plusSeconds(5)), activity.last());
    }

    @Test
    void aHoldLastsUntilItIsClosedAndItsEndIsAUse() {
        var one = activity.hold();
        var other = activity.hold();
        one.close();
        one.close();
        assertTrue(activity.seen().isHeld(), "closed twice, it let go of the other's");
        now.set(Instant.EPOCH.plusSeconds(9));
        other.close();
        assertEquals(
                new Activity.Seen(Optional.of(Instant.EPOCH.plusSeconds(9)), false),
                activity.seen());
    }

    @Test
    void whoeverSeesNoHoldSeesTheEndOfTheLastOne() throws Exception {
        var random = Seed.random(ActivityTest.class);
        var calls = new ArrayList<Future<?>>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int n = 0; n < 8; n++) {
                var own = new Random(random.nextLong());
                calls.add(threads.submit(() -> use(own)));
            }
        }
        for (var call : calls) {
            call.get();
        }
        assertFalse(activity.seen().isHeld());
        assertEquals(Optional.of(now.get()), activity.last());
    }

    private void use(Random random) {
        for (int n = 0; n < 500; n++) {
            try (var _ = activity.hold()) {
                var begun = now.updateAndGet(time -> time.plusMillis(1 + random.nextInt(5)));
                var seen = activity.seen();
                assertTrue(seen.isHeld());
                assertTrue(seen.last().orElseThrow().compareTo(begun.minusMillis(99)) > 0);
                activity.touch();
                assertFalse(activity.seen().last().orElseThrow().isBefore(begun));
            }
        }
        activity.touch();
    }
}
