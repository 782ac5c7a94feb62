package coppice.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private static final UUID TOKEN = UUID.fromString("3c4bd1f8-3d1c-4a41-9e28-4f0c57d4a8b1");

    private int readings;
    private boolean isBroken;
    private long nanoTime;

    private final Metrics metrics =
            new Metrics(new Secret(TOKEN.toString()), _ -> read(), () -> nanoTime);

    /// Its key is the token.
    private final ApiCaller scraper = new ApiCaller(List.of(metrics.route()), TOKEN);

    private String read() {
        if (isBroken) {
            throw new Failure(Code.UNAVAILABLE, "the store is busy; retry");
        }
        return "reading %d\n".formatted(++readings);
    }

    @Test
    void whoKnowsTheTokenIsServed() {
        assertServed("reading 1\n");
    }

    @Test
    void whoDoesNotKnowTheTokenIsRefusedAndCostsNothing() {
        scraper.as(UUID.randomUUID()).get("/metrics").expect(401, "INVALID_API_KEY");
        assertEquals(0, readings);
    }

    @Test
    void aReadingServesAllForAFewSeconds() {
        assertServed("reading 1\n");
        nanoTime += Duration.ofSeconds(4).toNanos();
        assertServed("reading 1\n");
        nanoTime += Duration.ofSeconds(1).toNanos();
        assertServed("reading 2\n");
    }

    @Test
    void aReadingThatFailsIsTriedAgainByTheNext() {
        isBroken = true;
        scraper.get("/metrics").expect(503, "UNAVAILABLE");
        isBroken = false;
        assertServed("reading 1\n");
    }

    private void assertServed(String text) {
        var answer = scraper.get("/metrics");
        assertEquals(200, answer.status());
        assertEquals(text, answer.text());
    }

    @Test
    void theDocumentOfTheApiDoesNotNameIt() {
        var document = scraper.get("/openapi.json").expect(200);
        assertFalse(document.requiredObject("paths").has("/metrics"));
        assertTrue(document.requiredObject("paths").has("/status"));
    }
}
