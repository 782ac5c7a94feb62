package coppice.api;

import static coppice.api.BackgroundServer.ADA;
import static coppice.api.BackgroundServer.AFTER;
import static coppice.api.BackgroundServer.BOB;
import static coppice.api.BackgroundServer.accepted;
import static coppice.api.BackgroundServer.body;
import static coppice.api.BackgroundServer.id;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.Wait;
import coppice.background.BackgroundLimits;
import coppice.base.Size;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Background requests under load, beyond their limits, and over the ends of servers.
class BackgroundLastingTest {
    @TempDir private Path directory;
    private BackgroundServer server;

    @BeforeEach
    void start() {
        server = new BackgroundServer(directory);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void whatAServerDidNotEndIsCutOffByTheNextOneAndACommandGoesOn() {
        var finished = accepted(server.deferred("POST", "/v5/jobs/early", "0"));
        var large = accepted(server.deferred("GET", "/v5/download/early?bytes=100000", "0"));
        server.open("early");
        server.ended(finished);
        server.ended(large);
        var running = accepted(server.deferred("POST", "/jobs/late", "0"));
        var old = accepted(server.deferred("POST", "/v1/jobs/late", "0"));
        var command = accepted(server.deferred("POST", "/v5/command/late", "0"));

        server.kill();
        server.start();

        assertEquals("early", body(server.poll(finished)).requiredString("done"));
        assertEquals(100_000, server.poll(large).body().length);
        assertEquals(command, accepted(server.poll(command)));
        var cut = server.ended(running);
        assertEquals(503, cut.statusCode());
        assertEquals("UNAVAILABLE", body(cut).requiredString("code"));
        assertEquals(Optional.of(running), id(cut));
        assertEquals(
                1, cut.headers().allValues("Deprecation").size(), "as the call would have had");
        assertEquals("UNAVAILABLE", body(server.ended(old)).requiredString("error"));
        server.open("late");
        var resumed = body(server.ended(command));
        assertEquals("late", resumed.requiredString("resumed"));
        assertEquals(ADA.toString(), resumed.requiredString("account"));
    }

    @Test
    void whereThereIsNoRoomACallIsWaitedFor() throws Exception {
        server.close();
        var usual = BackgroundLimits.USUAL;
        server =
                new BackgroundServer(
                        directory,
                        new BackgroundLimits(
                                8,
                                1,
                                2,
                                usual.body(),
                                new Size(10),
                                usual.keptOfAll(),
                                usual.keep(),
                                Duration.ofMillis(1)));
        var first = accepted(server.deferred("POST", "/v5/jobs/a", "0"));
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var waited = callers.submit(() -> server.deferred("POST", "/v5/jobs/b", "0"));
            accepted(server.send("POST", "/v5/jobs/a", BOB, Map.of(AFTER, "0"), new byte[0]));
            server.open("b");
            assertEquals(200, waited.get().statusCode());
        }
        server.open("a");
        assertEquals(507, server.ended(first).statusCode(), "more than is kept of all results");
    }

    @Test
    void whateverTheTimingACallIsAnsweredOnceOrPolledAndNothingIsLeftOver() throws Exception {
        var random = Seed.random(BackgroundLastingTest.class);
        var calls = new ArrayList<Callable<Boolean>>();
        for (int i = 0; i < 200; i++) {
            var nanos = Long.toString(1 + random.nextLong(400_000_000));
            var after = "0.%03d".formatted(random.nextInt(400));
            calls.add(
                    () -> {
                        var answer = server.deferred("POST", "/v5/naps/" + nanos, after);
                        boolean isPolled = answer.statusCode() == 202;
                        var last = isPolled ? server.ended(accepted(answer)) : answer;
                        assertEquals(nanos, body(last).requiredString("done"));
                        assertEquals(isPolled, id(last).isPresent());
                        return isPolled;
                    });
        }
        long polled = 0;
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Boolean> call : callers.invokeAll(calls)) {
                polled += call.get() ? 1 : 0;
            }
        }
        assertTrue(polled > 5 && polled < 195, polled + " were polled");
        long kept = polled;
        Wait.until(
                Duration.ofSeconds(30),
                () -> server.rows() == kept,
                () -> "%d rows of %d".formatted(server.rows(), kept));
    }
}
