package coppice.vm;

import static coppice.vm.GivenSnapshots.any;
import static coppice.vm.GivenSnapshots.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Slug;
import coppice.disk.Published;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CatalogueTest {
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
    void theCatalogueOutlivesItsTimersAndIsEverybodysToReadAndNobodysToChange() {
        var base = given.publish("debian");
        for (var name : List.of(base.id().text(), "svc/debian", "svc/ubuntu")) {
            assertEquals(base, given.snapshots.named(given.ada, name));
        }
        fails(Code.NOT_FOUND, () -> given.snapshots.named(given.ada, "debian"));
        fails(Code.NOT_FOUND, () -> given.snapshots.update(given.ada, base.id().text(), s -> s));
        fails(Code.NOT_FOUND, () -> given.snapshots.update(given.ada, "svc/debian", s -> s));
        assertEquals(0, given.snapshots.list(given.ada, any(), 0, 10).total());

        given.snapshots.update(
                given.platform,
                "debian",
                s ->
                        new Snapshot.Settings(
                                s.slug(),
                                s.displayName(),
                                Optional.of(Duration.ofSeconds(1)),
                                Optional.of(Duration.ofSeconds(1))));
        given.now = given.now.plus(Duration.ofDays(1));
        given.snapshots.expire();
        assertTrue(given.snapshots.byId(base.id()).isPresent());
    }

    @Test
    void theDefaultCannotBeDeletedWhichComesBeforeWhoseItIs() {
        var base = given.publish("debian");
        fails(Code.CONFLICT, () -> given.snapshots.delete(given.ada, base.id().text()));
        fails(Code.CONFLICT, () -> given.snapshots.delete(given.platform, base.id().text()));
        fails(Code.CONFLICT, () -> given.snapshots.delete(given.platform, "debian"));
        fails(Code.NOT_FOUND, () -> given.snapshots.delete(given.ada, "svc/debian"));
        fails(Code.NOT_FOUND, () -> given.snapshots.delete(given.ada, "debian"));
        var other = given.publish("busybox");
        fails(Code.NOT_FOUND, () -> given.snapshots.delete(given.ada, other.id().text()));
    }

    @Test
    void aNewerBuildTakesTheSlugAndADeletedBaseComesBackWhenItIsPublishedAgain() {
        var older = given.publish("busybox");
        var newer = given.publish("busybox");
        assertEquals(newer, given.snapshots.named(given.ada, "svc/busybox"));
        assertEquals(
                Optional.empty(),
                given.snapshots.named(given.ada, older.id().text()).settings().slug());

        given.snapshots.delete(given.platform, newer.id().text());
        fails(Code.NOT_FOUND, () -> given.snapshots.named(given.ada, newer.id().text()));
        var again = given.snapshots.publish(newer.id(), new Slug("busybox"), given.captures::write);
        assertEquals(again, given.snapshots.named(given.ada, "svc/busybox"));
        assertEquals(
                again,
                given.snapshots.publish(newer.id(), new Slug("busybox"), given.captures::write));
    }

    @Test
    void aRowOfBeforeSaysWhatItsCaptureSaysAndADamagedOneSaysNothing() {
        var base = given.publish("debian");
        given.store.change(
                handle ->
                        handle.execute(
                                "update snapshots set cpu = null, memory_mib = null, storage_mib = null"));
        assertEquals(base, given.snapshots.named(given.ada, "svc/debian"));
        Published.delete(given.files.snapshot(base.id()).resolve(Capture.DEVICES));
        assertEquals(Optional.empty(), given.snapshots.named(given.ada, "svc/debian").resources());
    }
}
