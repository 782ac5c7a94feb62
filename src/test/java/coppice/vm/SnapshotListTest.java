package coppice.vm;

import static coppice.vm.GivenSnapshots.NEW;
import static coppice.vm.GivenSnapshots.any;
import static coppice.vm.GivenSnapshots.named;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotListTest {
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
    void aListIsNewestFirstThenByIdAndCountsBeforeItIsCut() {
        var old = given.take(given.ada);
        given.now = given.now.plusSeconds(1);
        var pair =
                List.of(given.take(given.ada), given.take(given.ada)).stream()
                        .map(s -> s.id().text())
                        .sorted(Comparator.reverseOrder())
                        .toList();
        given.take(given.bob);
        var all = given.snapshots.list(given.ada, any(), 0, 10);
        assertEquals(
                List.of(pair.get(0), pair.get(1), old.id().text()),
                all.snapshots().stream().map(s -> s.id().text()).toList());
        var page = given.snapshots.list(given.ada, any(), 1, 1);
        assertEquals(3, page.total());
        assertEquals(pair.get(1), page.snapshots().getFirst().id().text());
        assertEquals(3, given.snapshots.list(given.ada, any(), 0, 0).total());
    }

    @Test
    void aListIsNarrowedByTheVmAndByAPartOfIdSlugOrName() {
        var web = given.take(given.ada, "web-base");
        var named =
                given.snapshots.update(given.ada, given.take(given.ada).id().text(), name("Größe"));
        var other = given.snapshots.take(given.ada, NEW, VmId.random(), given.captures::write);
        assertEquals(
                List.of(other),
                given.list(new SnapshotFilter(other.sourceVm(), Optional.empty(), false, false)));
        assertEquals(List.of(web), given.list(searching("EB-b")));
        assertEquals(List.of(named), given.list(searching("GRÖSSE".replace("SS", "ß"))));
        assertEquals(List.of(other), given.list(searching(other.id().text().substring(5))));
        assertEquals(List.of(), given.list(searching("%")));
    }

    @Test
    void theDeletedAreRememberedForADayByThoseWhoAsk() {
        var taken = given.take(given.ada, "web");
        given.snapshots.delete(given.ada, "web");
        var failed = given.failed();
        var all = new SnapshotFilter(Optional.empty(), Optional.empty(), true, true);
        var listed = given.snapshots.list(given.ada, all, 0, 10);
        assertEquals(Set.of(taken.id(), failed), Set.copyOf(ids(listed)));
        assertEquals(
                List.of(2L, 1L, 1L), List.of(listed.total(), listed.deleted(), listed.failed()));
        assertEquals(
                Optional.of(taken.id()), given.snapshots.deleted(given.ada, taken.id().text()));
        assertEquals(Optional.empty(), given.snapshots.deleted(given.bob, taken.id().text()));
        assertEquals(Optional.empty(), given.snapshots.deleted(given.ada, failed.text()));

        given.now = given.now.plus(Duration.ofHours(24));
        given.snapshots.expire();
        assertEquals(2, given.snapshots.list(given.ada, all, 0, 10).total());
        given.now = given.now.plusMillis(1);
        given.snapshots.expire();
        assertEquals(0, given.snapshots.list(given.ada, all, 0, 10).total());
    }

    @Test
    void aSnapshotGoesWhenItsTimeIsOverAndAUseMovesTheAutoDelete() {
        var brief = given.timed(Optional.empty(), Optional.of(Duration.ofSeconds(10)));
        var used = given.timed(Optional.of(Duration.ofSeconds(10)), Optional.empty());
        var kept = given.take(given.ada);
        given.now = given.now.plusSeconds(9);
        given.snapshots.used(used.id());
        given.snapshots.expire();
        assertEquals(3, given.snapshots.list(given.ada, any(), 0, 10).total());
        assertEquals(
                Optional.of(given.now), given.snapshots.byId(used.id()).orElseThrow().lastUsedAt());

        given.now = given.now.plusSeconds(9);
        given.snapshots.expire();
        assertEquals(Optional.empty(), given.snapshots.byId(brief.id()));
        assertFalse(Files.exists(given.files.snapshot(brief.id())));
        assertEquals(2, given.snapshots.list(given.ada, any(), 0, 10).total());

        given.now = given.now.plusSeconds(1);
        given.snapshots.expire();
        assertEquals(List.of(kept.id()), ids(given.snapshots.list(given.ada, any(), 0, 10)));
    }

    private static java.util.function.UnaryOperator<Snapshot.Settings> name(String text) {
        return s -> new Snapshot.Settings(s.slug(), Optional.of(text), s.autoDelete(), s.ttl());
    }

    private static SnapshotFilter searching(String part) {
        return new SnapshotFilter(Optional.empty(), Optional.of(part), false, false);
    }

    private static List<SnapshotId> ids(Snapshots.Listing listing) {
        return listing.snapshots().stream().map(Snapshot::id).toList();
    }
}
