package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.disk.Published;
import coppice.identity.Account;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What VMs are made from: the account's own snapshots, and the public ones of the platform, its base catalogue. Thread-safe.
///
/// Failures: `NOT_FOUND` for what the account may not see, or may see and not change; `CONFLICT` for a slug that is taken and for deleting
/// the platform's default; `SNAPSHOT_LIMIT_EXCEEDED`.
public final class Snapshots {
    private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

    /// How long one that was deleted or failed stays listed for those who ask for it.
    private static final Duration REMEMBERED = Duration.ofHours(24);

    static final String TAKEN =
            "slug: held by another snapshot of this account; choose another one, or clear it there first";

    private final SnapshotRecords records;
    private final Accounts accounts;
    private final VmFiles files;
    private final Catalogue catalogue;
    private final Optional<Integer> limit;
    private final InstantSource clock;

    /// The platform's own snapshots.
    ///
    /// @param owner the platform's account, whose slug is the owner word
    /// @param defaultSlug what a VM is made from when its creator does not say
    /// @param aliases further slugs of the platform's snapshots, and what they stand for
    public record Catalogue(Account owner, Slug defaultSlug, Map<Slug, Slug> aliases) {
        boolean isDefault(Snapshot snapshot) {
            return snapshot.account().equals(owner.id())
                    && snapshot.settings().slug().equals(Optional.of(defaultSlug));
        }

        /// Whether it stays, whatever its timers say.
        boolean keeps(Snapshot snapshot) {
            return isDefault(snapshot)
                    || snapshot.isPublic() && snapshot.account().equals(owner.id());
        }
    }

    /// @param limit how many an account may have; absent: no limit
    Snapshots(
            Store store,
            Accounts accounts,
            VmFiles files,
            Catalogue catalogue,
            Optional<Integer> limit,
            InstantSource clock) {
        this.records = new SnapshotRecords(store);
        this.accounts = accounts;
        this.files = files;
        this.catalogue = catalogue;
        this.limit = limit;
        this.clock = clock;
    }

    /// Where a snapshot's capture is.
    Path directory(SnapshotId id) {
        return files.snapshot(id);
    }

    /// The snapshot that a caller names by id, by its own slug, or by `owner/slug` of a public one.
    public Snapshot named(AccountId caller, String name) {
        return find(caller, name).orElseThrow(() -> absent(name));
    }

    /// The platform's default.
    Snapshot defaultSnapshot() {
        return records.find(catalogue.owner().id(), catalogue.defaultSlug())
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "no default snapshot; build the guest images with './coppice image build'"));
    }

    /// As [#named], for filters where an absent id is no mistake.
    public Optional<Snapshot> find(AccountId caller, String name) {
        if (SnapshotId.isId(name)) {
            return byId(new SnapshotId(name))
                    .filter(s -> s.isPublic() || s.account().equals(caller));
        }
        int slash = name.indexOf('/');
        return slash < 0
                ? slug(name).flatMap(slug -> records.find(caller, slug)).map(this::described)
                : slug(name.substring(slash + 1))
                        .flatMap(slug -> publicOf(name.substring(0, slash), slug, caller))
                        .map(this::described);
    }

    /// The snapshot with this id, for whoever may know its id already.
    public Optional<Snapshot> byId(SnapshotId id) {
        return records.find(id).map(this::described);
    }

    /// What a snapshot is called now. Its slug is given with the owner's in front, for everybody but the owner.
    public record Label(
            AccountId account, String owner, Optional<String> slug, Optional<String> displayName) {
        public Optional<String> slugFor(AccountId caller) {
            return slug.map(text -> caller.equals(account) ? text : owner + "/" + text);
        }
    }

    /// The label of a snapshot; empty when it is deleted.
    public Optional<Label> label(SnapshotId id) {
        return records.label(id);
    }

    /// One page of a list, and how many the filter matches in all.
    public record Listing(List<Snapshot> snapshots, long total, long deleted, long failed) {}

    /// The account's own snapshots, newest first.
    public Listing list(AccountId account, SnapshotFilter filter, long offset, int limit) {
        var matching = records.of(account).stream().filter(filter::matches).toList();
        return new Listing(
                matching.stream().skip(offset).limit(limit).map(this::described).toList(),
                matching.size(),
                matching.stream().filter(s -> s.standing() instanceof Snapshot.Deleted).count(),
                matching.stream().filter(s -> s.standing() instanceof Snapshot.Failed).count());
    }

    /// Takes a snapshot of a VM. What would refuse it is looked at before the capture, and again when it is kept.
    ///
    /// @param capture makes the capture's directory at the path that it is given, whole or not at all
    Snapshot take(AccountId account, NewSnapshot wanted, VmId source, Consumer<Path> capture) {
        wanted.settings()
                .slug()
                .flatMap(slug -> records.find(account, slug))
                .ifPresent(
                        _ -> {
                            throw new Failure(Code.CONFLICT, TAKEN);
                        });
        records.requireRoom(account, limit);
        var id = SnapshotId.random();
        var place = files.snapshot(id);
        capture.accept(place);
        try {
            var now = now();
            var snapshot =
                    new Snapshot(
                            id,
                            account,
                            wanted.settings(),
                            false,
                            Optional.of(source),
                            Optional.of(Resources.of(Capture.read(place))),
                            wanted.persistence(),
                            new Snapshot.Usable(),
                            Optional.empty(),
                            now,
                            now);
            records.insert(snapshot, limit);
            return snapshot;
        } catch (RuntimeException e) {
            // A store that did not answer may still keep the row. Then the files must be there; if
            // it does
            // not, the next start of the server removes them.
            if (!(e instanceof Failure failure) || failure.code() != Code.UNAVAILABLE) {
                Published.delete(place);
            }
            throw e;
        }
    }

    /// Changes what the owner says about one of its snapshots.
    public Snapshot update(
            AccountId account, String name, UnaryOperator<Snapshot.Settings> change) {
        return own(account, name)
                .flatMap(snapshot -> records.change(snapshot.id(), change, now()))
                .map(this::described)
                .orElseThrow(() -> absent(name));
    }

    /// Deletes one of the account's snapshots. VMs made from it go on.
    public Snapshot delete(AccountId account, String name) {
        requireNotDefault(account, name);
        var snapshot = own(account, name).orElseThrow(() -> absent(name));
        if (!delete(snapshot, _ -> true)) {
            throw absent(name);
        }
        return snapshot;
    }

    /// That the default cannot be deleted comes before whose it is.
    private void requireNotDefault(AccountId account, String name) {
        var named = SnapshotId.isId(name) ? records.find(new SnapshotId(name)) : own(account, name);
        named.filter(catalogue::isDefault)
                .ifPresent(
                        snapshot -> {
                            throw new Failure(
                                    Code.CONFLICT,
                                    "%s is what VMs are made from by default and cannot be deleted"
                                            .formatted(snapshot.id()));
                        });
    }

    /// The id of a snapshot of the account that was deleted a short while ago.
    public Optional<SnapshotId> deleted(AccountId account, String name) {
        return Optional.of(name)
                .filter(SnapshotId::isId)
                .map(SnapshotId::new)
                .filter(
                        id ->
                                records.of(account).stream()
                                        .filter(s -> s.id().equals(id))
                                        .anyMatch(s -> s.standing() instanceof Snapshot.Deleted));
    }

    /// Notes that a VM was made from it. The VM is there already, so nothing about this may fail or wait.
    void used(SnapshotId id) {
        try {
            records.used(id, now());
        } catch (Failure e) {
            LOG.warn("the use of {} is not noted: {}", id, e.getMessage());
        }
    }

    /// Deletes what has had its time, and forgets what was deleted or failed long enough ago.
    void expire() {
        var now = now();
        for (var snapshot : records.timed()) {
            if (isOver(snapshot, now) && delete(snapshot, present -> isOver(present, now))) {
                LOG.info("{} has had its time and is deleted", snapshot.id());
            }
        }
        records.purge(now.minus(REMEMBERED));
    }

    private boolean isOver(Snapshot snapshot, Instant now) {
        return snapshot.isDue(now) && !catalogue.keeps(snapshot);
    }

    /// The row goes first: files without a row are removed at the next start, a row without files would be a lie.
    private boolean delete(Snapshot snapshot, Predicate<Snapshot> still) {
        if (!records.delete(snapshot.id(), still, now())) {
            return false;
        }
        try {
            Published.delete(files.snapshot(snapshot.id()));
        } catch (Failure e) {
            LOG.warn("{}; the next start of the server tries again", e.getMessage(), e);
        }
        return true;
    }

    /// Adds a base snapshot to the catalogue, or finds it there. Its slug moves here from an older build of the same image.
    ///
    /// @param fill writes the files of the capture into the directory that it is given
    public Snapshot publish(SnapshotId id, Slug slug, Consumer<Path> fill) {
        var present = records.find(id);
        var place = files.snapshot(id);
        if (present.isEmpty() || !Files.exists(place)) {
            var unfinished = Published.unfinished(place);
            Published.delete(unfinished);
            Published.delete(place);
            fill.accept(unfinished);
            Published.directory(unfinished, place);
        }
        var snapshot = base(id, slug, present, Capture.read(place));
        if (present.equals(Optional.of(snapshot))) {
            return snapshot;
        }
        var changed = snapshot.with(snapshot.settings(), now());
        records.publish(changed);
        return changed;
    }

    private Snapshot base(SnapshotId id, Slug slug, Optional<Snapshot> present, Capture capture) {
        var now = now();
        var settings = present.map(Snapshot::settings).orElse(Snapshot.Settings.NONE);
        return new Snapshot(
                id,
                catalogue.owner().id(),
                settings.withSlug(Optional.of(slug)),
                true,
                Optional.empty(),
                Optional.of(Resources.of(capture)),
                new Persistence.Persistent(),
                new Snapshot.Usable(),
                present.flatMap(Snapshot::lastUsedAt),
                present.map(Snapshot::createdAt).orElse(now),
                present.map(Snapshot::updatedAt).orElse(now));
    }

    private Optional<Snapshot> own(AccountId account, String name) {
        return SnapshotId.isId(name)
                ? records.find(new SnapshotId(name)).filter(s -> s.account().equals(account))
                : slug(name).flatMap(slug -> records.find(account, slug));
    }

    private Optional<Snapshot> publicOf(String owner, Slug slug, AccountId caller) {
        var account = slug(owner).flatMap(accounts::find);
        var wanted =
                account.filter(a -> a.id().equals(catalogue.owner().id())).isPresent()
                        ? catalogue.aliases().getOrDefault(slug, slug)
                        : slug;
        return account.flatMap(a -> records.find(a.id(), wanted))
                .filter(s -> s.isPublic() || s.account().equals(caller));
    }

    /// Rows of an older form do not say what a VM gets: their capture does.
    private Snapshot described(Snapshot snapshot) {
        if (snapshot.resources().isPresent() || !(snapshot.standing() instanceof Snapshot.Usable)) {
            return snapshot;
        }
        try {
            return snapshot.with(
                    Optional.of(Resources.of(Capture.read(files.snapshot(snapshot.id())))));
        } catch (Failure e) {
            return snapshot; // damaged: a create from it says so
        }
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS); // as the store keeps it
    }

    private static Optional<Slug> slug(String text) {
        try {
            return Optional.of(Slug.parse("snapshotId", text));
        } catch (Failure e) {
            return Optional.empty(); // names nothing
        }
    }

    private static Failure absent(String name) {
        var clean = name.replaceAll("\\p{Cntrl}", "?");
        return new Failure(
                Code.NOT_FOUND,
                "no snapshot %s; list the snapshots to see which there are"
                        .formatted(clean.length() <= 80 ? clean : clean.substring(0, 80) + "..."));
    }
}
