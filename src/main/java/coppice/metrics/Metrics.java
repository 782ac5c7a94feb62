package coppice.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.base.Size;
import coppice.disk.VolumeSpace;
import coppice.http.Headers;
import coppice.vm.Usage;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

/// `GET /metrics`, for one bearer token. However many ask, there is one reading every few seconds, and none takes longer than its deadline.
public final class Metrics {
    private static final Duration FRESH = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String BEARER = "Bearer ";

    private final Secret token;
    private final Function<Deadline, String> read;
    private final LongSupplier nanoTime;
    private final ReentrantLock reading = new ReentrantLock();
    private Optional<Text> last = Optional.empty();

    /// What was read, and when.
    private record Text(String text, long nanoTime) {}

    Metrics(Secret token, Function<Deadline, String> read, LongSupplier nanoTime) {
        this.token = token;
        this.read = read;
        this.nanoTime = nanoTime;
    }

    /// @param volume the root of the data volume
    /// @param reserve what creates and captures must leave free there
    /// @param more what is to be said beside that
    public static Metrics of(
            Secret token, Usage usage, Path volume, Size reserve, Function<Deadline, String> more) {
        return new Metrics(
                token,
                deadline -> {
                    long begun = System.nanoTime();
                    var reading = usage.read(Optional.empty(), deadline);
                    var took = Duration.ofNanos(System.nanoTime() - begun);
                    return new UsageText(reading, took, VolumeSpace.of(volume), reserve).toString()
                            + more.apply(deadline);
                },
                System::nanoTime);
    }

    public Route route() {
        return Route.operator("/metrics", "metrics", this::answer);
    }

    private Reply answer(Call call) {
        admit(call.headers());
        return Reply.bytes(
                Exposition.CONTENT_TYPE,
                fresh(Deadline.in(PATIENCE.multipliedBy(2))).getBytes(UTF_8));
    }

    private void admit(Headers headers) {
        var sent =
                headers.first("Authorization")
                        .filter(value -> value.startsWith(BEARER))
                        .map(value -> value.substring(BEARER.length()).strip())
                        .orElseThrow(Metrics::missing);
        // Takes the same time wherever they differ.
        if (!MessageDigest.isEqual(sent.getBytes(UTF_8), token.reveal().getBytes(UTF_8))) {
            throw new Failure(
                    Code.INVALID_API_KEY, "this is not the metrics token; send metrics.token");
        }
    }

    private static Failure missing() {
        return new Failure(
                Code.MISSING_CREDENTIALS,
                "no credential; send the header Authorization: Bearer <metrics.token>");
    }

    private String fresh(Deadline deadline) {
        if (!hasTurn(deadline)) {
            throw new Failure(Code.UNAVAILABLE, "the metrics could not be read in time; retry");
        }
        // Held while reading, which is what it is for: others wait for the same reading.
        try {
            long now = nanoTime.getAsLong();
            var present = last.filter(text -> now - text.nanoTime() < FRESH.toNanos());
            if (present.isEmpty()) {
                last = Optional.of(new Text(read.apply(Deadline.in(PATIENCE)), now));
            }
            return last.orElseThrow().text();
        } finally {
            reading.unlock();
        }
    }

    private boolean hasTurn(Deadline deadline) {
        try {
            return reading.tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
