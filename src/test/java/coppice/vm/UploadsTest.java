package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Wait;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class UploadsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir private Path directory;
    private GivenVms given;
    private Uploads uploads;
    private String vm;
    private Instant now = Instant.parse("2026-03-01T09:00:00Z");

    @BeforeEach
    void open() {
        given = new GivenVms(directory);
        given.free(Size.ofMib(10));
        uploads = given.uploads(() -> now);
        vm = given.stopped().id().text();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private String begin(long size) {
        var wanted =
                new Upload.Wanted(
                        new GuestPath("/srv/it"), size, Optional.empty(), OptionalInt.empty());
        return uploads.open(given.ada(), vm, wanted).id();
    }

    private Upload append(String id, long offset, int length) {
        return append(id, offset, length, Spool.source(new ByteArrayInputStream(new byte[length])));
    }

    private Upload append(String id, long offset, int length, FileSource chunk) {
        return uploads.append(given.ada(), vm, id, offset, OptionalLong.of(length), chunk);
    }

    private static void assertFails(Code expected, Executable call) {
        assertEquals(expected, assertThrows(Failure.class, call).code());
    }

    private List<Path> spools() throws IOException {
        try (var files = Files.list(directory.resolve("uploads"))) {
            return files.toList();
        }
    }

    @Test
    void anUploadEndsADayAfterItsLastChunk() throws IOException {
        var id = begin(3);
        now = now.plus(Duration.ofHours(23));
        append(id, 0, 2);
        now = now.plus(Duration.ofHours(23));
        uploads.expire();
        assertEquals(2, uploads.state(given.ada(), vm, id).received());
        assertEquals(1, spools().size());

        now = now.plus(Duration.ofHours(1));
        assertFails(Code.NOT_FOUND, () -> append(id, 2, 1));
        assertFails(Code.NOT_FOUND, () -> uploads.commit(given.ada(), vm, id));
        uploads.expire();
        assertEquals(List.of(), spools());
    }

    @Test
    void oneCallAtATimeWorksOnAnUploadAndOneThatIsAbortedMeanwhileLeavesNothing() throws Exception {
        var id = begin(4);
        var gate = new CountDownLatch(1);
        var chunk = Spool.source(new ByteArrayInputStream(new byte[4]));
        var slow =
                new FutureTask<>(
                        () ->
                                append(
                                        id,
                                        0,
                                        4,
                                        (into, at, length, deadline) -> {
                                            awaitOpen(gate);
                                            return chunk.read(into, at, length, deadline);
                                        }));
        Thread.startVirtualThread(slow);
        Wait.until(PATIENCE, () -> isSpooling(id), () -> "no chunk is begun");

        assertFails(Code.CONFLICT, () -> append(id, 0, 4));
        assertFails(Code.CONFLICT, () -> uploads.commit(given.ada(), vm, id));
        uploads.expire();
        assertEquals(1, spools().size(), "the chunk that comes is not taken away");
        uploads.abort(given.ada(), vm, id);
        gate.countDown();

        var end = assertThrows(java.util.concurrent.ExecutionException.class, slow::get);
        assertEquals(Code.NOT_FOUND, ((Failure) end.getCause()).code());
        assertEquals(List.of(), spools());
    }

    private boolean isSpooling(String id) {
        return Files.exists(directory.resolve("uploads").resolve(id));
    }

    private static void awaitOpen(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aChunkThatTheVolumeHasNoRoomForIsRefusedAndWhatIsThereStays() throws IOException {
        var id = begin(5 << 20);
        append(id, 0, 1 << 20);
        given.free(Size.ofMib(3));
        assertFails(Code.CONFLICT, () -> append(id, 1 << 20, 4 << 20));
        assertEquals(1 << 20, uploads.state(given.ada(), vm, id).received());
        assertEquals(1 << 20, Files.size(spools().getFirst()));
        append(id, 1 << 20, 2 << 20);
        given.free(Size.ofMib(10));
        assertEquals(5 << 20, append(id, 3 << 20, 2 << 20).received());
    }
}
