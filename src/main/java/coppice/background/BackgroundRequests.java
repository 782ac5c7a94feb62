package coppice.background;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Ticks;
import coppice.http.HttpResponse;
import coppice.http.ResponseBody;
import coppice.identity.AccountId;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Requests that go on after their callers were told to poll. From that moment on a request is a row of the store: it can be polled from
/// every later server, too. What came of it is kept for ten minutes, status, headers and body, byte for byte.
///
/// A request that its server did not end is finished as cut off by the next one; a command in a VM goes on in its VM, and is waited for.
public final class BackgroundRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundRequests.class);
    private static final Duration EVERY = Duration.ofSeconds(10);

    /// How long it is tried to keep a result while the store does not take it.
    private static final Duration STORING = Duration.ofMinutes(5);

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final BackgroundRecords records;
    private final ResultFiles files;
    private final BackgroundLimits limits;
    private final InstantSource clock;
    private final Room room;
    private final Kept kept;
    private final Ticks ticks;
    private volatile boolean isClosing;

    private BackgroundRequests(
            Store store, Path directory, BackgroundLimits limits, InstantSource clock) {
        this.records = new BackgroundRecords(store);
        this.files = new ResultFiles(directory);
        this.limits = limits;
        this.clock = clock;
        this.room = new Room(limits);
        this.kept = new Kept(limits, records.amounts());
        files.sweep(records::has);
        this.ticks = Ticks.start("background-timers", EVERY, this::expire);
    }

    /// @param directory for large results; made if it is not there
    public static BackgroundRequests open(
            Store store, Path directory, BackgroundLimits limits, InstantSource clock) {
        return new BackgroundRequests(store, directory, limits, clock);
    }

    /// Has the work done on a thread of its own.
    ///
    /// @param body told when the request's body has been received in full
    /// @param accepted what the caller is told when it has waited long enough
    /// @return what came of the work, or that
    public HttpResponse run(
            Asked asked,
            Consumer<Runnable> body,
            Work work,
            Function<BackgroundId, HttpResponse> accepted) {
        var deferral = new Deferral(asked.isResumable());
        if (asked.isReceived()) {
            deferral.received();
        } else {
            body.accept(deferral::received);
        }
        var id = BackgroundId.random();
        var account = asked.origin().caller().account();
        Thread.ofVirtual().name(id.text()).start(() -> work(id, account, deferral, work));
        var answer = deferral.await(asked.after());
        return answer.orElseGet(
                () -> defer(id, asked.origin(), deferral).orElseGet(() -> accepted.apply(id)));
    }

    /// The answer, if it came after all, or if the request has to be waited for: then there is no row of it.
    private Optional<HttpResponse> defer(BackgroundId id, Origin origin, Deferral deferral) {
        var account = origin.caller().account();
        boolean isBound = deferral.resumption().isEmpty();
        if (!room.take(account, isBound)) {
            return Optional.of(deferral.await());
        }
        if (!kept.begin(account)) {
            room.release(account, isBound);
            return Optional.of(deferral.await());
        }
        try {
            records.begin(new Unfinished(id, origin, deferral.resumption()));
        } catch (Failure e) {
            room.release(account, isBound);
            kept.drop(account, 1, 0);
            LOG.warn("a request cannot go on in the background: {}", e.getMessage());
            return Optional.of(deferral.await());
        }
        var answer = deferral.leave();
        if (answer.isPresent()) {
            room.release(account, isBound);
            kept.drop(account, 1, 0);
            records.forget(id);
        }
        return answer;
    }

    private void work(BackgroundId id, AccountId account, Deferral deferral, Work work) {
        var answer = work.run(deferral::resumable);
        if (deferral.answer(answer)) {
            return;
        }
        if (deferral.isAbandoned()) {
            close(answer);
            return;
        }
        finish(id, account, answer, work::failed, deferral.resumption().isPresent());
    }

    private static void close(HttpResponse answer) {
        if (answer.body() instanceof ResponseBody.Stream stream) {
            stream.writer().close();
        }
    }

    /// @param isResumable whether a later server can do better than a failure
    private void finish(
            BackgroundId id,
            AccountId account,
            HttpResponse answer,
            Function<Throwable, HttpResponse> failed,
            boolean isResumable) {
        try {
            if (isClosing && isResumable && answer.status() >= 500) {
                close(answer);
                return;
            }
            keep(id, account, answer, failed);
        } catch (RuntimeException e) {
            LOG.error("what came of {} is not kept", id, e);
        } finally {
            room.release(account, !isResumable);
        }
    }

    private void keep(
            BackgroundId id,
            AccountId account,
            HttpResponse answer,
            Function<Throwable, HttpResponse> failed) {
        try (var body = files.body(id, limits.body())) {
            write(answer, body);
            var result = new Result(answer.status(), answer.headers(), body.length());
            store(id, account, Optional.of(result), body.end());
        } catch (ResultBody.TooLarge _) {
            store(id, account, Optional.empty(), Optional.empty());
        } catch (RuntimeException e) {
            if (answer.body() instanceof ResponseBody.Stream) {
                keep(id, account, failed.apply(e), failed); // no stream any more
            } else {
                throw e;
            }
        }
    }

    private static void write(HttpResponse answer, ResultBody body) {
        switch (answer.body()) {
            case ResponseBody.None _ -> {}
            case ResponseBody.Bytes(var bytes) -> body.write(bytes);
            case ResponseBody.Stream(var length, var writer) -> {
                try (writer) {
                    writer.write(body);
                }
                if (length.isPresent() && length.getAsLong() != body.length()) {
                    throw new Failure(Code.UNAVAILABLE, "the answer ended early; ask again");
                }
            }
            case ResponseBody.Upgrade _ ->
                    throw new IllegalStateException("a WebSocket cannot go on in the background");
        }
    }

    private void store(
            BackgroundId id, AccountId account, Optional<Result> result, Optional<byte[]> body) {
        long bytes = result.map(Result::length).orElse(0L);
        boolean isKept = result.isPresent() && kept.keep(account, bytes);
        var deadline = Deadline.in(STORING);
        while (true) {
            try {
                records.finish(
                        id, clock.instant(), result.filter(_ -> isKept), body.filter(_ -> isKept));
                break;
            } catch (Failure e) {
                if (deadline.isPast() || isClosing) {
                    kept.drop(account, 0, isKept ? bytes : 0);
                    throw e;
                }
                rest(e);
            }
        }
        if (!isKept || body.isPresent()) {
            files.delete(id);
        }
    }

    private static void rest(Failure why) {
        try {
            Thread.sleep(RETRY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw why;
        }
    }

    /// How it stands with a request of this account; empty if there is none, or its time is over.
    public Optional<Found> find(AccountId account, BackgroundId id) {
        return records.find(account, id)
                .filter(row -> row.finishedAt().filter(at -> !at.isAfter(oldest())).isEmpty())
                .map(
                        row ->
                                new Found(
                                        id,
                                        row.request().origin(),
                                        row.request().resumption(),
                                        state(id, row)));
    }

    private Found.State state(BackgroundId id, BackgroundRecords.Row row) {
        if (row.finishedAt().isEmpty()) {
            return new Found.State.Running();
        }
        if (row.result().isEmpty()) {
            return new Found.State.Unstorable();
        }
        var result = row.result().get();
        var body =
                row.body()
                        .<ResponseBody>map(
                                bytes ->
                                        bytes.length == 0
                                                ? new ResponseBody.None()
                                                : new ResponseBody.Bytes(bytes))
                        .orElseGet(() -> files.read(id, result.length()));
        return new Found.State.Finished(new HttpResponse(result.status(), result.headers(), body));
    }

    private Instant oldest() {
        return clock.instant().minus(limits.keep());
    }

    /// Forgets those whose time is over.
    public void expire() {
        List<BackgroundRecords.Expired> over;
        do {
            over = records.expire(oldest());
            for (var each : over) {
                files.delete(each.id());
                kept.drop(each.account(), 1, each.bytes());
            }
        } while (!over.isEmpty());
    }

    /// Takes over what a former server did not end. Before the first request is run.
    public void resume(Resumer resumer) {
        for (var request : records.unfinished()) {
            var account = request.origin().caller().account();
            boolean isRoom = room.take(account, request.resumption().isEmpty());
            var resumption = request.resumption().filter(_ -> isRoom);
            if (resumption.isPresent()) {
                Thread.ofVirtual()
                        .name(request.id().text())
                        .start(() -> resume(resumer, request, resumption.get()));
            } else {
                keep(request.id(), account, resumer.cutOff(request), _ -> resumer.cutOff(request));
                if (isRoom) {
                    room.release(account, true);
                }
            }
        }
    }

    private void resume(Resumer resumer, Unfinished request, Resumption resumption) {
        finish(
                request.id(),
                request.origin().caller().account(),
                resumer.resume(request, resumption),
                _ -> resumer.cutOff(request),
                true);
    }

    /// Waits a little for what goes on. What is not ended then is for the next server.
    @Override
    public void close() {
        isClosing = true;
        ticks.close();
        room.awaitBound(Deadline.in(limits.drain()));
    }
}
