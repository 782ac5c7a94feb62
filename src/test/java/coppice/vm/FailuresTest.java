package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FailuresTest {
    private static final Instant BEGIN = Instant.parse("2026-03-01T09:30:00Z");
    private static final long TEN_MINUTES = 600;

    @Test
    void fiveInTenMinutesAreTooManyAndTheWaitsBeforeDouble() {
        var failures = Failures.NONE;
        var waits = new ArrayList<Long>();
        for (int n = 0; n < 4; n++) {
            failures = failures.and(BEGIN.plusSeconds(n * 149));
            assertFalse(failures.areTooMany());
            waits.add(failures.pause().toSeconds());
        }
        assertEquals(List.of(1L, 2L, 4L, 8L), waits);
        assertTrue(failures.and(BEGIN.plusSeconds(4 * 149)).areTooMany());
        assertFalse(failures.and(BEGIN.plusSeconds(TEN_MINUTES)).areTooMany());
    }

    @Test
    void theWaitOfOneThatKeepsFailingSlowlyGrowsToAMinuteAndTenGoodMinutesForgiveIt() {
        var failures = Failures.NONE;
        var waits = new ArrayList<Long>();
        for (int n = 0; n < 9; n++) {
            failures = failures.and(BEGIN.plusSeconds(n * 200));
            waits.add(failures.pause().toSeconds());
        }
        assertEquals(List.of(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L), waits);
        var last = BEGIN.plusSeconds(8 * 200);
        assertEquals(60, failures.and(last.plusSeconds(TEN_MINUTES - 1)).pause().toSeconds());
        assertEquals(1, failures.and(last.plusSeconds(TEN_MINUTES)).pause().toSeconds());
    }

    @Test
    void whatIsKeptIsEnoughToKnowTheWholeStory() {
        var random = Seed.random(FailuresTest.class);
        for (int life = 0; life < 200; life++) {
            var all = new ArrayList<Long>();
            var failures = Failures.NONE;
            long at = 0;
            for (int n = 0; n < 30; n++) {
                at += random.nextInt(random.nextBoolean() ? 60 : 900);
                all.add(at);
                failures = failures.and(BEGIN.plusSeconds(at));
                long now = at;
                long lately = all.stream().filter(then -> then > now - TEN_MINUTES).count();
                assertEquals(lately >= 5, failures.areTooMany(), all::toString);
                assertEquals(wait(all), failures.pause(), all::toString);
                assertTrue(failures.recent().size() <= 5);
            }
        }
    }

    private static Duration wait(List<Long> all) {
        int last = all.size() - 1;
        long streak =
                LongStream.iterate(last, n -> n > 0, n -> n - 1)
                        .takeWhile(n -> all.get((int) n) - all.get((int) n - 1) < TEN_MINUTES)
                        .count();
        return Duration.ofSeconds(Math.min(60, (long) Math.pow(2, streak)));
    }
}
