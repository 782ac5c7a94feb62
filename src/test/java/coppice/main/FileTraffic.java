package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Files of one VM, in a directory that is theirs alone. A write that was cut off has left the old file or the new one; which, is found
/// out by reading it.
final class FileTraffic extends Traffic {
    private static final int FILES = 3;
    private static final long MOST_AT_ONCE = 256L << 20;
    private static final int HASHED = 1 << 20;
    private static final int MOST_OF_A_PART = 1 << 20;

    private final String directory;
    private final long largest;
    private boolean hasBegun;

    /// What each file has; absent: there is none.
    private final List<Optional<KnownBytes>> files = new ArrayList<>();

    /// @param largest of the first file, which it begins with; the others stay small enough for many of them to fit on a disk
    FileTraffic(Lane lane, long largest) {
        super(lane);
        this.largest = largest;
        this.directory = "/srv/f%x".formatted(random.nextInt() & 0xffff);
        for (int i = 0; i < FILES; i++) {
            files.add(Optional.empty());
        }
    }

    @Override
    void step() {
        if (!hasBegun) {
            hasBegun = true;
            upload(0, new KnownBytes(random.nextLong(), largest));
            return;
        }
        int file = random.nextInt(FILES);
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> write(file);
            case 3, 4 -> upload(file, next(file, largest));
            case 5 -> look(file, List.of(files.get(file)));
            case 6 -> readAndGoAway(file);
            case 7 -> hash(file);
            default -> readPart(file);
        }
    }

    @Override
    void end() {
        settle();
        for (int file = 0; file < FILES; file++) {
            look(file, List.of(files.get(file)));
        }
    }

    private String url(String call, int file, String query) {
        var path = URLEncoder.encode(path(file), UTF_8);
        return "/v5/vms/%s/fs/%s?path=%s%s".formatted(vm, call, path, query);
    }

    private String path(int file) {
        return directory + "/" + file;
    }

    private KnownBytes next(int file, long most) {
        long limit = file == 0 ? largest : Math.min(largest, 16 << 20);
        return new KnownBytes(random.nextLong(), sizes.next(random, Math.min(most, limit)));
    }

    private void write(int file) {
        var bytes = next(file, MOST_AT_ONCE);
        var body = new BrokenStream(bytes, random, random.nextInt(5) == 0);
        boolean isWrong = random.nextInt(10) == 0;
        var hash = isWrong ? new KnownBytes(1, 1).sha256() : bytes.sha256();
        var query = isWrong || random.nextBoolean() ? "&sha256=" + hash : "";
        story.tell("write %s: %s%s".formatted(path(file), body, isWrong ? ", wrong hash" : ""));
        var mark = weather.mark(vm);
        var status = send("PUT", url("write", file, query), body.publisher());
        boolean wasCut = body.isBroken() || weather.wasCut(mark);
        if (status.equals(Optional.of(204))) {
            assertTrue(!isWrong && !body.isBroken(), "it was written nevertheless");
            files.set(file, Optional.of(bytes));
        } else if (isWrong || body.isBroken()) {
            requireStatus(isWrong && !wasCut ? 400 : 0, status);
            look(file, List.of(files.get(file)));
        } else if (wasCut) {
            settle();
            look(file, List.of(files.get(file), Optional.of(bytes)));
        } else {
            requireStatus(204, status);
        }
    }

    /// Waits for the guest to be done with what it has got whole before it was cut off, and fails if anything is left beside the files.
    private void settle() {
        var command =
                "i=0; while [ $(ps | grep -c '[c]oppice-agent') != 1 ]; do sleep 0.05; i=$((i+1)); [ $i -lt 400 ] || exit 1; done; "
                        + "ls -A %s 2>/dev/null | grep -v '^[0-9]$' || true".formatted(directory);
        var rest = Optional.<String>empty();
        while (rest.isEmpty()) {
            weather.awaitServer();
            rest = weather.unlessKilled(vm, () -> client.run(vm, command));
        }
        assertEquals("", rest.get(), "left beside the files");
    }

    private static void requireStatus(int wanted, Optional<Integer> found) {
        if (wanted != 0) {
            assertEquals(Optional.of(wanted), found);
        }
    }

    /// The status of an answer, whose body is dropped; empty if there was none.
    private Optional<Integer> send(String method, String url, HttpRequest.BodyPublisher body) {
        try {
            var answer = client.stream(method, url, body, Map.of());
            try (var rest = answer.body()) {
                rest.readAllBytes();
            }
            return Optional.of(answer.statusCode());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private void upload(int file, KnownBytes bytes) {
        story.tell("upload %s: %s".formatted(path(file), bytes));
        var before = files.get(file);
        var upload = new UploadTraffic(client, weather, vm, random);
        switch (upload.send(path(file), bytes)) {
            case WRITTEN -> files.set(file, Optional.of(bytes));
            case DROPPED -> look(file, List.of(before));
            case GONE -> look(file, List.of(Optional.of(bytes)));
        }
    }

    /// Reads the whole file, as often as it takes. It must be one of these, and from now on is known to be that one.
    private void look(int file, List<Optional<KnownBytes>> candidates) {
        while (true) {
            weather.awaitServer();
            var mark = weather.mark(vm);
            try {
                var answer = get(file, Map.of());
                if (answer.statusCode() == 200 || answer.statusCode() == 404) {
                    files.set(file, matching(answer, candidates));
                    return;
                }
                assertTrue(weather.wasCut(mark), () -> "status " + answer.statusCode());
            } catch (IOException e) {
                requireCut(mark, e);
            }
        }
    }

    private void requireCut(Weather.Mark mark, IOException why) {
        if (!weather.wasCut(mark)) {
            throw new UncheckedIOException(why);
        }
    }

    private HttpResponse<InputStream> get(int file, Map<String, String> headers)
            throws IOException {
        return client.stream(
                "GET", url("read", file, ""), HttpRequest.BodyPublishers.noBody(), headers);
    }

    private Optional<KnownBytes> matching(
            HttpResponse<InputStream> answer, List<Optional<KnownBytes>> candidates)
            throws IOException {
        try (var body = answer.body()) {
            boolean isThere = answer.statusCode() == 200;
            var left = new ArrayList<>(candidates);
            left.removeIf(one -> one.isPresent() != isThere);
            var piece = new byte[64 << 10];
            long at = 0;
            for (int count = 0; isThere && (count = body.read(piece)) >= 0; at += count) {
                long from = at;
                int length = count;
                left.removeIf(one -> !one.get().has(from, piece, length));
            }
            long size = at;
            left.removeIf(one -> isThere && one.get().size() != size);
            if (left.isEmpty()) {
                throw new AssertionError(
                        "status %d and %d bytes, none of %s"
                                .formatted(answer.statusCode(), size, candidates));
            }
            return left.getFirst();
        }
    }

    /// A range as it is asked for, and what must come: nothing if the file has no such part.
    private record Part(String range, long from, long length) {}

    private Part part(long size) {
        long length = Math.min(sizes.next(random, MOST_OF_A_PART), size);
        long from = (long) (random.nextDouble() * (size - length + 1));
        return switch (random.nextInt(3)) {
            case 0 -> {
                long most = Math.max(1, length);
                var range = "bytes=%d-%d".formatted(from, from + most - 1);
                yield new Part(range, from, Math.min(most, size - from));
            }
            case 1 -> new Part("bytes=%d-".formatted(size - length), size - length, length);
            default -> new Part("bytes=-%d".formatted(length), size - length, length);
        };
    }

    private void readPart(int file) {
        if (files.get(file).isEmpty()) {
            write(file);
            return;
        }
        var bytes = files.get(file).get();
        var part = part(bytes.size());
        story.tell("read %s of %s".formatted(part.range(), path(file)));
        var mark = weather.mark(vm);
        try {
            var answer = get(file, Map.of("Range", part.range()));
            try (var body = answer.body()) {
                var found = body.readAllBytes();
                if (weather.wasCut(mark) && answer.statusCode() >= 500) {
                    weather.awaitServer();
                    return;
                }
                assertEquals(part.length() == 0 ? 416 : 206, answer.statusCode(), part.range());
                if (part.length() > 0) {
                    assertEquals(part.length(), found.length, part.range());
                    assertTrue(bytes.has(part.from(), found, found.length), "other bytes");
                }
            }
        } catch (IOException e) {
            requireCut(mark, e);
            weather.awaitServer();
        }
    }

    /// Reads some of it and goes away in the middle.
    private void readAndGoAway(int file) {
        var bytes = files.get(file);
        if (bytes.isEmpty()) {
            return;
        }
        var mark = weather.mark(vm);
        try {
            var answer = get(file, Map.of());
            try (var body = answer.body()) {
                var found = body.readNBytes(random.nextInt(300_000));
                if (answer.statusCode() == 200) {
                    assertTrue(bytes.get().has(0, found, found.length), "other bytes");
                } else {
                    assertTrue(weather.wasCut(mark), () -> "status " + answer.statusCode());
                }
            }
        } catch (IOException e) {
            requireCut(mark, e);
        }
        weather.awaitServer();
    }

    /// What the guest itself finds in the file.
    private void hash(int file) {
        var bytes = files.get(file);
        if (bytes.isEmpty() || bytes.get().size() > HASHED) {
            return;
        }
        var found = weather.unlessKilled(vm, () -> client.run(vm, "sha256sum < " + path(file)));
        found.ifPresent(hash -> assertEquals(bytes.get().sha256() + "  -", hash));
    }
}
