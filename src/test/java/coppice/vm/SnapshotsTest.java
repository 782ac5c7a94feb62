package coppice.vm;

import static coppice.vm.GivenSnapshots.LIMIT;
import static coppice.vm.GivenSnapshots.NEW;
import static coppice.vm.GivenSnapshots.SOURCE;
import static coppice.vm.GivenSnapshots.any;
import static coppice.vm.GivenSnapshots.fails;
import static coppice.vm.GivenSnapshots.named;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotsTest {
    @TempDir private Path directory;
    private GivenSnapshots given;

    @BeforeEach
    void open() {
        given = new GivenSnapshots(directory);
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aSnapshotThatIsTakenIsPrivateAndFoundByIdAndSlug() {
        var taken = given.take(given.ada, "web");
        assertFalse(taken.isPublic());
        assertEquals(Optional.of(SOURCE), taken.sourceVm());
        assertEquals(
                Optional.of(Resources.of(Capture.read(given.files.snapshot(taken.id())))),
                taken.resources());
        assertEquals(taken, given.snapshots.named(given.ada, taken.id().text()));
        assertEquals(
                taken, given.snapshots.named(given.ada, taken.id().text().replace("sh-", "sc-")));
        assertEquals(taken, given.snapshots.named(given.ada, "web"));
        assertEquals(Set.of(taken.id()), new SnapshotRecords(given.store).ids());
    }

    @Test
    void anotherAccountsSnapshotIsAsAbsentAsARandomOne() {
        var taken = given.take(given.ada, "web");
        var random = SnapshotId.random();
        for (var call :
                List.<java.util.function.Consumer<String>>of(
                        name -> given.snapshots.named(given.bob, name),
                        name -> given.snapshots.update(given.bob, name, before -> before),
                        name -> given.snapshots.delete(given.bob, name))) {
            var hidden = assertThrows(Failure.class, () -> call.accept(taken.id().text()));
            var never = assertThrows(Failure.class, () -> call.accept(random.text()));
            assertEquals(Code.NOT_FOUND, hidden.code());
            assertEquals(
                    never.getMessage(),
                    hidden.getMessage().replace(taken.id().text(), random.text()));
            fails(Code.NOT_FOUND, () -> call.accept("web"));
            fails(Code.NOT_FOUND, () -> call.accept("ada/web"));
        }
        assertEquals(taken, given.snapshots.named(given.ada, "web"));
    }

    @Test
    void aSlugThatIsTakenIsAConflictBeforeTheCapture() {
        given.take(given.ada, "web");
        fails(
                Code.CONFLICT,
                () ->
                        given.snapshots.take(
                                given.ada,
                                named("web"),
                                SOURCE,
                                _ -> {
                                    throw new AssertionError("captured all the same");
                                }));
        given.take(given.bob, "web");
    }

    @Test
    void aSlugThatIsTakenDuringTheCaptureIsAConflictAndLeavesNoFiles() {
        fails(
                Code.CONFLICT,
                () ->
                        given.snapshots.take(
                                given.ada,
                                named("web"),
                                SOURCE,
                                place -> {
                                    given.captures.write(place);
                                    given.take(given.ada, "web");
                                }));
        assertEquals(1, given.directories());
        assertEquals(1, given.snapshots.list(given.ada, any(), 0, 10).total());
    }

    @Test
    void aCaptureThatFailsLeavesNothing() {
        fails(
                Code.UNAVAILABLE,
                () ->
                        given.snapshots.take(
                                given.ada,
                                named("web"),
                                SOURCE,
                                _ -> {
                                    throw new Failure(Code.UNAVAILABLE, "the disk is full");
                                }));
        assertEquals(0, given.snapshots.list(given.ada, any(), 0, 10).total());
        given.take(given.ada, "web");
    }

    @Test
    void theLimitOfAnAccountHoldsForManyAtOnceAndTellsItsNumbers() throws Exception {
        var together = new CountDownLatch(12);
        var tasks =
                IntStream.range(0, 12)
                        .<Callable<Boolean>>mapToObj(_ -> () -> isTaken(together))
                        .toList();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            long taken = 0;
            for (var task : threads.invokeAll(tasks)) {
                taken += task.get() ? 1 : 0;
            }
            assertEquals(LIMIT, taken);
        }
        assertEquals(LIMIT, given.directories());
        var refused = fails(Code.SNAPSHOT_LIMIT_EXCEEDED, () -> given.take(given.ada));
        assertEquals(Map.of("limit", LIMIT, "current", (long) LIMIT), refused.details());
        given.take(given.bob);

        given.snapshots.delete(
                given.ada,
                given.snapshots.list(given.ada, any(), 0, 1).snapshots().getFirst().id().text());
        given.take(given.ada);
    }

    private boolean isTaken(CountDownLatch together) {
        try {
            given.snapshots.take(
                    given.ada,
                    NEW,
                    SOURCE,
                    place -> {
                        given.captures.write(place);
                        together.countDown();
                        try {
                            together.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    });
            return true;
        } catch (Failure e) {
            assertEquals(Code.SNAPSHOT_LIMIT_EXCEEDED, e.code());
            return false;
        }
    }

    @Test
    void anUpdateKeepsWhatItDoesNotChangeAndFreesTheSlugThatItGivesUp() {
        var taken = given.take(given.ada, "web");
        given.now = given.now.plusSeconds(5);
        var changed =
                given.snapshots.update(
                        given.ada,
                        "web",
                        before ->
                                new Snapshot.Settings(
                                        Optional.empty(),
                                        before.displayName(),
                                        Optional.of(Duration.ofDays(1)),
                                        before.ttl()));
        assertEquals(changed, given.snapshots.named(given.ada, taken.id().text()));
        assertEquals(given.now, changed.updatedAt());
        assertEquals(taken.createdAt(), changed.createdAt());
        var next = given.take(given.ada, "web");
        fails(
                Code.CONFLICT,
                () ->
                        given.snapshots.update(
                                given.ada, taken.id().text(), s -> s.withSlug(slug("web"))));
        given.snapshots.update(given.ada, next.id().text(), s -> s.withSlug(slug("web")));
    }

    @Test
    void aDeletedSnapshotIsGoneWithItsFilesAndItsSlugIsFree() {
        var taken = given.take(given.ada, "web");
        given.snapshots.delete(given.ada, "web");
        assertFalse(Files.exists(given.files.snapshot(taken.id())));
        assertEquals(Optional.empty(), given.snapshots.byId(taken.id()));
        assertEquals(Optional.empty(), given.snapshots.label(taken.id()));
        assertEquals(Set.of(), new SnapshotRecords(given.store).ids());
        fails(Code.NOT_FOUND, () -> given.snapshots.delete(given.ada, taken.id().text()));
        fails(Code.NOT_FOUND, () -> given.snapshots.update(given.ada, taken.id().text(), s -> s));
        given.take(given.ada, "web");
        assertEquals(1, given.snapshots.list(given.ada, any(), 0, 10).total());
    }

    private static Optional<Slug> slug(String text) {
        return Optional.of(new Slug(text));
    }
}
