package coppice.idempotency;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Ticks;
import coppice.http.HttpResponse;
import coppice.http.ResponseBody;
import coppice.identity.AccountId;
import coppice.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has a request done once, however often it is sent with the same key: whoever repeats it, because the answer was lost, gets that answer.
/// For a day. What failed has changed nothing, and may be tried again under its key.
///
/// Another request under the same key is `CONFLICT`. So is one whose first attempt was cut off by the end of its server: nobody knows
/// whether it was done, and to do it again might do it twice.
public final class IdempotencyKeys implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(IdempotencyKeys.class);
    private static final Duration KEEP = Duration.ofHours(24);
    private static final Duration EVERY = Duration.ofMinutes(1);

    /// How long a repetition waits for the first attempt.
    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private static final int MAX = 100_000;

    private static final String INSERT =
            """
            insert into idempotency_keys (account_id, key_hash, request_hash, begun_at)
            values (:account, :key, :request, :now)
            """;

    private static final String WHERE = " where account_id = :account and key_hash = :key";

    private final Store store;
    private final InstantSource clock;
    private final Ticks ticks;
    private final ConcurrentHashMap<Name, CountDownLatch> running = new ConcurrentHashMap<>();

    private record Name(AccountId account, String keyHash) {}

    private record Row(String requestHash, Optional<byte[]> answer) {}

    public IdempotencyKeys(Store store, InstantSource clock) {
        this.store = store;
        this.clock = clock;
        this.ticks = Ticks.start("idempotency-timers", EVERY, this::expire);
    }

    /// @param key as the caller sent it
    /// @param requestHash the same for the same request
    /// @param work its failures are thrown
    public HttpResponse once(
            AccountId account, String key, String requestHash, Supplier<HttpResponse> work) {
        var name = new Name(account, SealedAnswer.hash(key));
        while (true) {
            var mine = new CountDownLatch(1);
            var other = running.putIfAbsent(name, mine);
            if (other != null) {
                await(other);
                continue;
            }
            try {
                return first(name, key, requestHash, work);
            } finally {
                running.remove(name);
                mine.countDown();
            }
        }
    }

    private static void await(CountDownLatch other) {
        try {
            if (!other.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new Failure(
                        Code.CONFLICT, "the request with this Idempotency-Key still goes on");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "the server is stopping; try again", e);
        }
    }

    private HttpResponse first(
            Name name, String key, String requestHash, Supplier<HttpResponse> work) {
        var before = store.write(handle -> begin(handle, name, requestHash));
        if (before.isPresent()) {
            return repeated(before.get(), key, requestHash);
        }
        HttpResponse answer;
        try {
            answer = work.get();
        } catch (Throwable e) {
            forget(name);
            throw e;
        }
        if (answer.status() >= 300 || answer.body() instanceof ResponseBody.Stream) {
            forget(name);
        } else {
            keep(name, SealedAnswer.seal(key, answer));
        }
        return answer;
    }

    private static HttpResponse repeated(Row row, String key, String requestHash) {
        if (!row.requestHash.equals(requestHash)) {
            throw new Failure(
                    Code.CONFLICT,
                    "this Idempotency-Key was used for another request; use a new one");
        }
        return row.answer
                .map(box -> SealedAnswer.open(key, box))
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.CONFLICT,
                                        "the server ended while it did the request with this Idempotency-Key;"
                                                + " look whether it was done, and use a new key if not"));
    }

    /// @return what there was before
    private Optional<Row> begin(Handle handle, Name name, String requestHash) {
        var before = find(handle, name);
        if (before.isEmpty()) {
            refuseOverLimit(handle, name.account);
            handle.createUpdate(INSERT)
                    .bind("account", name.account.toString())
                    .bind("key", name.keyHash)
                    .bind("request", requestHash)
                    .bind("now", clock.millis())
                    .execute();
        }
        return before;
    }

    private Optional<Row> find(Handle handle, Name name) {
        handle.createUpdate("delete from idempotency_keys" + WHERE + " and begun_at <= :oldest")
                .bind("account", name.account.toString())
                .bind("key", name.keyHash)
                .bind("oldest", oldest().toEpochMilli())
                .execute();
        return handle.createQuery("select request_hash, answer from idempotency_keys" + WHERE)
                .bind("account", name.account.toString())
                .bind("key", name.keyHash)
                .map(
                        (row, _) ->
                                new Row(
                                        row.getString("request_hash"),
                                        Optional.ofNullable(row.getBytes("answer"))))
                .findOne();
    }

    private static void refuseOverLimit(Handle handle, AccountId account) {
        long there =
                handle.createQuery(
                                "select count(*) from idempotency_keys where account_id = :account")
                        .bind("account", account.toString())
                        .mapTo(Long.class)
                        .one();
        if (there >= MAX) {
            throw new Failure(
                    Code.CONFLICT,
                    "the account has used %d Idempotency-Keys within a day, its limit"
                            .formatted(MAX));
        }
    }

    /// A request that was done but whose answer cannot be kept is answered all the same; its key then stands for one that was cut off.
    private void keep(Name name, byte[] box) {
        try {
            store.change(
                    handle ->
                            handle.createUpdate(
                                            "update idempotency_keys set answer = :answer" + WHERE)
                                    .bind("account", name.account.toString())
                                    .bind("key", name.keyHash)
                                    .bind("answer", box)
                                    .execute());
        } catch (Failure e) {
            LOG.error("the answer to a request with an Idempotency-Key is not kept", e);
        }
    }

    private void forget(Name name) {
        try {
            store.change(
                    handle ->
                            handle.createUpdate("delete from idempotency_keys" + WHERE)
                                    .bind("account", name.account.toString())
                                    .bind("key", name.keyHash)
                                    .execute());
        } catch (Failure e) {
            LOG.error("the Idempotency-Key of a request that failed is not forgotten", e);
        }
    }

    private Instant oldest() {
        return clock.instant().minus(KEEP);
    }

    /// Forgets those whose day is over.
    public void expire() {
        store.change(
                handle ->
                        handle.createUpdate(
                                        "delete from idempotency_keys where begun_at <= :oldest")
                                .bind("oldest", oldest().toEpochMilli())
                                .execute());
    }

    @Override
    public void close() {
        ticks.close();
    }
}
