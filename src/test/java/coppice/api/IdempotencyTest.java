package coppice.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.RequestBody;
import coppice.http.ResponseBody;
import coppice.idempotency.IdempotencyKeys;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.store.Store;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Creates that are sent again because their answer was lost.
class IdempotencyTest {
    private static final UUID ADA = UUID.randomUUID();
    private static final UUID BOB = UUID.randomUUID();

    @TempDir private Path directory;
    private final AtomicInteger made = new AtomicInteger();
    private volatile Instant now = Instant.parse("2026-03-01T09:30:00Z");
    private volatile boolean isBroken;
    private Store store;
    private IdempotencyKeys keys;
    private Api api;

    @BeforeEach
    void start() {
        store = Store.open(directory.resolve("coppice.db"));
        keys = new IdempotencyKeys(store, () -> now);
        var routes =
                List.of(
                        Route.v5(Method.POST, "/things", "createThing", this::create)
                                .creates()
                                .takes(Schema.object())
                                .returns(Schema.object()),
                        Route.v5(Method.POST, "/things/{thing}/poke", "poke", this::create)
                                .returns(Schema.object()));
        api =
                new Api(
                        ApiSettings.at(URI.create("https://api.test")),
                        key -> new Caller(UUID.fromString(key.reveal())),
                        routes,
                        new Api.Lasting(Optional.empty(), Optional.of(keys)));
    }

    @AfterEach
    void close() {
        keys.close();
        store.close();
    }

    private Reply create(Call call) {
        if (isBroken) {
            throw new Failure(Code.UNAVAILABLE, "no room");
        }
        LockSupport.parkNanos(20_000_000);
        return Reply.ok(new JsonWriter().put("id", "thing-" + made.incrementAndGet()));
    }

    private HttpResponse send(UUID account, String path, String key, String body) {
        return api.handle(
                new HttpRequest(
                        "POST",
                        path,
                        Optional.empty(),
                        Headers.of("Authorization", "Bearer " + account)
                                .and("Idempotency-Key", key),
                        RequestBody.of(body.getBytes(UTF_8))));
    }

    private static String text(HttpResponse answer) {
        var bytes = answer.body() instanceof ResponseBody.Bytes(var all) ? all : new byte[0];
        return answer.status() + " " + new String(bytes, UTF_8);
    }

    @Test
    void whatIsSentAgainIsMadeOnceAndGetsTheSameAnswer() {
        var first = text(send(ADA, "/v5/things", "k", "{\"a\":1}"));
        assertEquals(first, text(send(ADA, "/v5/things", "k", "{\"a\":1}")));
        assertEquals(first, text(send(ADA, "/things", "k", "{\"a\":1}")), "the same operation");
        assertEquals(1, made.get());
        assertEquals(409, send(ADA, "/v5/things", "k", "{\"a\":2}").status());
        send(ADA, "/v5/things", "other", "{\"a\":1}");
        send(BOB, "/v5/things", "k", "{\"a\":2}");
        assertEquals(3, made.get());
        now = now.plus(Duration.ofHours(24));
        send(ADA, "/v5/things", "k", "{\"a\":3}");
        assertEquals(4, made.get());
    }

    @Test
    void whateverManySendAtOnceIsMadeOnce() throws Exception {
        var answers = new ArrayList<Future<String>>();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 50; i++) {
                answers.add(callers.submit(() -> text(send(ADA, "/v5/things", "k", "{}"))));
            }
        }
        var different = new HashSet<String>();
        for (var answer : answers) {
            different.add(answer.get());
        }
        assertEquals(1, different.size());
        assertEquals(1, made.get());
    }

    @Test
    void whatFailedMayBeTriedAgainAndWhatWasCutOffMayNot() {
        isBroken = true;
        assertEquals(503, send(ADA, "/v5/things", "k", "{}").status());
        isBroken = false;
        assertEquals(200, send(ADA, "/v5/things", "k", "{}").status());
        store.change(handle -> handle.execute("update idempotency_keys set answer = null"));
        assertEquals(409, send(ADA, "/v5/things", "k", "{}").status(), "its server has ended");
        assertEquals(1, made.get());
    }

    @Test
    void aLaterServerKnowsAndNobodyWhoReadsTheStoreDoes() throws IOException {
        var first = text(send(ADA, "/v5/things", "secret-key", "{}"));
        close();
        start();
        assertEquals(first, text(send(ADA, "/v5/things", "secret-key", "{}")));
        close();
        try (var files = Files.list(directory)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                var bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                assertFalse(bytes.contains("secret-key") || bytes.contains("thing-1"));
            }
        }
        start();
        now = now.plus(Duration.ofHours(25));
        keys.expire();
        long left =
                store.read(
                        handle ->
                                handle.createQuery("select count(*) from idempotency_keys")
                                        .mapTo(Long.class)
                                        .one());
        assertEquals(0, left);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "ä", "\u007f"})
    void whatIsNoKeyIsABadRequest(String key) {
        assertEquals(400, send(ADA, "/v5/things", key, "{}").status());
        assertEquals(400, send(ADA, "/v5/things", "x".repeat(256), "{}").status());
        assertEquals(200, send(ADA, "/v5/things", "x".repeat(255), "{}").status());
    }

    @Test
    void anOperationThatMakesNothingIsDoneEachTime() {
        send(ADA, "/v5/things/1/poke", "k", "{}");
        send(ADA, "/v5/things/1/poke", "k", "{}");
        assertEquals(200, send(ADA, "/v5/things/1/poke", "no key", "{}").status());
        assertEquals(3, made.get());
    }
}
