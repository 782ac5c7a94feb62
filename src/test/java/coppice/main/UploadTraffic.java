package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// A file that is uploaded in chunks of random sizes, some of them cut off. It goes on at what the server has counted.
final class UploadTraffic {
    private static final long MOST = 256L << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Client client;
    private final Weather weather;
    private final String vm;
    private final Random random;

    /// The server may still be busy with the chunk before, which was broken off, and refuse the next one without taking all of it.
    private boolean wasBroken;

    /// What has become of an upload.
    enum End {
        /// Its commit was answered so.
        WRITTEN,
        /// Its hash was another one, as it was meant to be.
        DROPPED,
        /// Its commit was cut off, and the upload is there no more: so it is written.
        GONE
    }

    UploadTraffic(Client client, Weather weather, String vm, Random random) {
        this.client = client;
        this.weather = weather;
        this.vm = vm;
        this.random = random;
    }

    End send(String path, KnownBytes bytes) {
        boolean isWrong = random.nextInt(8) == 0;
        var hash = isWrong ? new KnownBytes(1, 1).sha256() : bytes.sha256();
        var upload = open(path, bytes.size(), hash);
        for (long at = 0; at < bytes.size(); ) {
            at = chunk(upload, bytes, at);
        }
        return commit(upload, isWrong);
    }

    /// Calmly: an upload whose id nobody was told would stay.
    private String open(String path, long size, String hash) {
        var body = "{\"path\":\"%s\",\"size\":%d,\"sha256\":\"%s\"}".formatted(path, size, hash);
        var uploads = "/v5/vms/%s/fs/uploads".formatted(vm);
        return weather.calmly(
                vm,
                () ->
                        uploads
                                + "/"
                                + client.post(uploads, body)
                                        .expect(200)
                                        .requiredString("uploadId"));
    }

    /// @return where the next one begins
    private long chunk(String upload, KnownBytes bytes, long at) {
        long left = Math.min(MOST, bytes.size() - at);
        long length =
                random.nextInt(3) == 0
                        ? left
                        : 1 + (long) (Math.pow(random.nextDouble(), 4) * (left - 1));
        var body = new BrokenStream(bytes, at, at + length, random, random.nextInt(8) == 0);
        var mark = weather.mark(vm);
        boolean mayBeRefused = wasBroken;
        wasBroken = body.isBroken();
        try {
            var publisher = random.nextInt(4) == 0 ? body.unmeasured() : body.publisher();
            var answer = client.stream("PUT", upload + "?offset=" + at, publisher, Map.of());
            try (var rest = answer.body()) {
                var told = rest.readAllBytes();
                if (answer.statusCode() == 200) {
                    assertTrue(!body.isBroken(), "a chunk that was cut off was counted");
                    assertEquals(at + length, Json.parse(told).requiredInteger("receivedBytes"));
                    return at + length;
                }
                assertTrue(
                        body.isBroken() || weather.wasKilled(mark) || answer.statusCode() == 409,
                        () -> answer.statusCode() + " " + new String(told));
            }
        } catch (IOException e) {
            if (!body.isBroken() && !weather.wasKilled(mark) && !mayBeRefused) {
                throw new UncheckedIOException(e);
            }
        }
        long counted = counted(upload);
        boolean isWhole = !body.isBroken() && weather.wasKilled(mark);
        assertTrue(
                counted == at || isWhole && counted == at + length, () -> "goes on at " + counted);
        return counted;
    }

    private long counted(String upload) {
        return state(upload).orElseThrow().requiredInteger("receivedBytes");
    }

    /// Empty if the upload is there no more.
    private Optional<JsonObject> state(String upload) {
        return weather.calmly(
                vm,
                () -> {
                    var answer = client.get(upload);
                    return answer.status() == 404
                            ? Optional.empty()
                            : Optional.of(answer.expect(200));
                });
    }

    private End commit(String upload, boolean isWrong) {
        var until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            weather.awaitServer();
            var mark = weather.mark(vm);
            try {
                var answer = client.post(upload + "/commit", "");
                switch (answer.status()) {
                    case 204 -> {
                        assertTrue(!isWrong, "it was written nevertheless");
                        return End.WRITTEN;
                    }
                    case 400 -> {
                        answer.expect(400, "CHECKSUM_MISMATCH");
                        assertTrue(isWrong, answer::message);
                        return End.DROPPED;
                    }
                    // The call before, of which nothing was heard, may still be at it.
                    default ->
                            assertTrue(
                                    weather.wasCut(mark)
                                            || answer.status() == 409 && System.nanoTime() < until,
                                    () -> answer.status() + " " + answer.message());
                }
            } catch (UncheckedIOException e) {
                if (!weather.wasKilled(mark)) {
                    throw e;
                }
            }
            if (state(upload).isEmpty()) {
                return isWrong ? End.DROPPED : End.GONE;
            }
            Wait.moment();
        }
    }
}
