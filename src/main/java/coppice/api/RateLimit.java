package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.LongSupplier;

/// How many calls an account may make: a token bucket for each.
final class RateLimit {
    /// Full buckets are forgotten when there are more than that.
    private static final int MAX_IDLE = 10_000;

    private static final double NANOS = 1e9;

    private final CallRate rate;
    private final LongSupplier nanoTime;
    private final Map<UUID, Bucket> buckets = new HashMap<>();

    /// @param calls that are left at `at`
    private record Bucket(double calls, long at) {}

    RateLimit(CallRate rate, LongSupplier nanoTime) {
        this.rate = rate;
        this.nanoTime = nanoTime;
    }

    /// `RATE_LIMITED`, with the time after which the next call is let through.
    void take(UUID account) {
        double left = takeOne(account);
        if (left < 0) {
            throw new Failure(
                            Code.RATE_LIMITED,
                            "the account makes more than %d calls a second; call less often"
                                    .formatted(rate.perSecond()))
                    .retryAfter(Duration.ofNanos((long) (-left / rate.perSecond() * NANOS)));
        }
    }

    /// @return what is left; below zero, and nothing taken, if there was not one whole
    private synchronized double takeOne(UUID account) {
        long now = nanoTime.getAsLong();
        var bucket = buckets.getOrDefault(account, new Bucket(rate.burst(), now));
        double left = calls(bucket, now) - 1;
        if (buckets.size() > MAX_IDLE) {
            buckets.values().removeIf(it -> calls(it, now) >= rate.burst());
        }
        buckets.put(account, new Bucket(left < 0 ? left + 1 : left, now));
        return left;
    }

    private double calls(Bucket bucket, long now) {
        return Math.min(rate.burst(), bucket.calls + (now - bucket.at) / NANOS * rate.perSecond());
    }
}
