package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// How often an account may call.
class RateLimitTest {
    private final AtomicLong now = new AtomicLong();
    private final UUID ada = UUID.randomUUID();

    private RateLimit limit(long perSecond, long burst) {
        return new RateLimit(new CallRate(perSecond, burst), now::get);
    }

    private static boolean passes(RateLimit limit, UUID account) {
        try {
            limit.take(account);
            return true;
        } catch (Failure e) {
            assertEquals(Code.RATE_LIMITED, e.code());
            return false;
        }
    }

    @Test
    void whoIsTurnedAwayIsLetThroughAfterTheTimeThatItWasTold() {
        var limit = limit(4, 2);
        limit.take(ada);
        limit.take(ada);
        for (int i = 0; i < 3; i++) {
            var refused = assertThrows(Failure.class, () -> limit.take(ada));
            assertEquals(Duration.ofMillis(250), refused.retryAfter().orElseThrow());
        }
        assertTrue(passes(limit, UUID.randomUUID()), "another account has a limit of its own");
        now.addAndGet(Duration.ofMillis(250).toNanos());
        assertTrue(passes(limit, ada));
        assertTrue(!passes(limit, ada));
    }

    @Test
    void inNoTimeMoreCallsPassThanTheRateAndTheBurstAllow() {
        var random = Seed.random(RateLimitTest.class);
        for (int round = 0; round < 50; round++) {
            long perSecond = 1 + random.nextInt(50);
            long burst = 1 + random.nextInt(50);
            var limit = limit(perSecond, burst);
            long begun = now.get();
            long passed = 0;
            for (int i = 0; i < 500; i++) {
                now.addAndGet(random.nextInt(40_000_000));
                passed += passes(limit, ada) ? 1 : 0;
                double seconds = (now.get() - begun) / 1e9;
                assertTrue(passed <= burst + perSecond * seconds + 1e-6, passed + " passed");
            }
            double offered = Math.min(500, burst + perSecond * (now.get() - begun) / 1e9);
            assertTrue(passed >= Math.min(500, offered) * 0.5, passed + " of " + offered);
        }
    }
}
