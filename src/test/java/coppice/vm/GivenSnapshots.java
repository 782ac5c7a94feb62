package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.function.Executable;

/// Snapshots with a real store and directories, a clock that the test moves, and captures that were never a machine.
final class GivenSnapshots implements AutoCloseable {
    static final int LIMIT = 5;
    static final VmId SOURCE = VmId.random();
    static final NewSnapshot NEW =
            new NewSnapshot(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    final Store store;
    final Reflink reflink = new Reflink();
    final VmFiles files;
    final Snapshots snapshots;
    final GivenCapture captures = new GivenCapture(Seed.random(GivenSnapshots.class));
    final AccountId platform;
    final AccountId ada;
    final AccountId bob;
    Instant now = Instant.parse("2026-03-01T09:30:00Z");

    GivenSnapshots(Path directory) {
        store = Store.open(directory.resolve("test.db"));
        files = new VmFiles(directory, reflink);
        files.prepare();
        var accounts = new Accounts(store, Clock.systemUTC());
        platform = accounts.platform().id();
        ada = accounts.create(new Slug("ada"), "Ada").id();
        bob = accounts.create(new Slug("bob"), "Bob").id();
        snapshots =
                new Snapshots(
                        store,
                        accounts,
                        files,
                        new Snapshots.Catalogue(
                                accounts.platform(),
                                new Slug("debian"),
                                Map.of(new Slug("ubuntu"), new Slug("debian"))),
                        Optional.of(LIMIT),
                        () -> now);
    }

    Snapshot take(AccountId account) {
        return snapshots.take(account, NEW, SOURCE, captures::write);
    }

    Snapshot take(AccountId account, String slug) {
        return snapshots.take(account, named(slug), SOURCE, captures::write);
    }

    Snapshot timed(Optional<Duration> autoDelete, Optional<Duration> ttl) {
        var wanted = new NewSnapshot(Optional.empty(), Optional.empty(), autoDelete, ttl);
        return snapshots.take(ada, wanted, SOURCE, captures::write);
    }

    /// One that was never whole.
    SnapshotId failed() {
        var failed =
                new Snapshot(
                        SnapshotId.random(),
                        ada,
                        Snapshot.Settings.NONE,
                        false,
                        Optional.empty(),
                        Optional.empty(),
                        new Persistence.Persistent(),
                        new Snapshot.Failed(now, "the disk is full"),
                        Optional.empty(),
                        now,
                        now);
        new SnapshotRecords(store).insert(failed, Optional.empty());
        return failed.id();
    }

    Snapshot publish(String slug) {
        return snapshots.publish(SnapshotId.random(), new Slug(slug), captures::write);
    }

    List<Snapshot> list(SnapshotFilter filter) {
        return snapshots.list(ada, filter, 0, 10).snapshots();
    }

    long directories() {
        try (var entries = Files.list(files.snapshots())) {
            return entries.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static NewSnapshot named(String slug) {
        return new NewSnapshot(
                Optional.of(new Slug(slug)), Optional.empty(), Optional.empty(), Optional.empty());
    }

    static SnapshotFilter any() {
        return new SnapshotFilter(Optional.empty(), Optional.empty(), false, false);
    }

    static Failure fails(Code code, Executable call) {
        var failure = assertThrows(Failure.class, call);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }

    @Override
    public void close() {
        store.close();
        reflink.close();
    }
}
