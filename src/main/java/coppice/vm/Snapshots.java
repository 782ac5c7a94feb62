package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.disk.Published;
import coppice.identity.Account;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/// What VMs are made from: the account's own snapshots, and the public ones of the platform, its base catalogue.
public final class Snapshots {
    private static final String LABEL =
            """
            select s.account_id, a.slug as owner, s.slug, s.display_name
            from snapshots s join accounts a on a.id = s.account_id where s.id = :id
            """;

    private final Store store;
    private final Accounts accounts;
    private final VmFiles files;
    private final Catalogue catalogue;
    private final InstantSource clock;

    /// The platform's own snapshots.
    ///
    /// @param owner the platform's account, whose slug is the owner word
    /// @param defaultSlug what a VM is made from when its creator does not say
    /// @param aliases further slugs of the platform's snapshots, and what they stand for
    public record Catalogue(Account owner, Slug defaultSlug, Map<Slug, Slug> aliases) {}

    Snapshots(
            Store store,
            Accounts accounts,
            VmFiles files,
            Catalogue catalogue,
            InstantSource clock) {
        this.store = store;
        this.accounts = accounts;
        this.files = files;
        this.catalogue = catalogue;
        this.clock = clock;
    }

    /// Where a snapshot's capture is.
    Path directory(SnapshotId id) {
        return files.snapshot(id);
    }

    /// The snapshot that a caller names by id, by its own slug, or by `owner/slug` of a public one.
    public Snapshot named(AccountId caller, String name) {
        return find(caller, name)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "no snapshot %s; list the snapshots to see which there are"
                                                .formatted(shown(name))));
    }

    /// The platform's default.
    Snapshot defaultSnapshot() {
        return bySlug(catalogue.owner().id(), catalogue.defaultSlug())
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
                ? slug(name).flatMap(slug -> bySlug(caller, slug))
                : slug(name.substring(slash + 1))
                        .flatMap(slug -> publicOf(name.substring(0, slash), slug, caller));
    }

    /// The snapshot with this id, for whoever may know its id already.
    public Optional<Snapshot> byId(SnapshotId id) {
        return query("id = :id", Map.of("id", id.text()));
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
        return store.read(
                handle ->
                        handle.createQuery(LABEL)
                                .bind("id", id.text())
                                .map(
                                        (row, _) ->
                                                new Label(
                                                        AccountId.stored(
                                                                row.getString("account_id")),
                                                        row.getString("owner"),
                                                        Optional.ofNullable(row.getString("slug")),
                                                        Optional.ofNullable(
                                                                row.getString("display_name"))))
                                .findOne());
    }

    /// Adds a base snapshot to the catalogue, or finds it there. Its slug moves here from an older build of the same image.
    ///
    /// @param fill writes the files of the capture into the directory that it is given
    public Snapshot publish(SnapshotId id, Slug slug, Consumer<Path> fill) {
        var present = byId(id);
        var place = files.snapshot(id);
        if (present.isEmpty() || !java.nio.file.Files.exists(place)) {
            var unfinished = place.resolveSibling(place.getFileName() + Published.UNFINISHED);
            Published.delete(unfinished);
            Published.delete(place);
            fill.accept(unfinished);
            Published.directory(unfinished, place);
        }
        var snapshot =
                new Snapshot(
                        id,
                        catalogue.owner().id(),
                        Optional.of(slug),
                        Optional.empty(),
                        true,
                        Capture.read(place),
                        clock.instant());
        if (!present.flatMap(Snapshot::slug).equals(Optional.of(slug))) {
            insert(snapshot, slug);
        }
        return snapshot;
    }

    private void insert(Snapshot snapshot, Slug slug) {
        store.change(
                handle -> {
                    handle.createUpdate(
                                    "update snapshots set slug = null where account_id = :account and slug = :slug")
                            .bind("account", snapshot.account().toString())
                            .bind("slug", slug.text())
                            .execute();
                    handle.createUpdate(
                                    "insert into snapshots (id, account_id, slug, is_public, created_at, updated_at)"
                                            + " values (:id, :account, :slug, 1, :now, :now)"
                                            + " on conflict (id) do update set slug = excluded.slug, updated_at = excluded.updated_at")
                            .bind("id", snapshot.id().text())
                            .bind("account", snapshot.account().toString())
                            .bind("slug", slug.text())
                            .bind("now", snapshot.createdAt().toEpochMilli())
                            .execute();
                });
    }

    private Optional<Snapshot> publicOf(String owner, Slug slug, AccountId caller) {
        var account = slug(owner).flatMap(accounts::find);
        var wanted =
                account.filter(a -> a.id().equals(catalogue.owner().id())).isPresent()
                        ? catalogue.aliases().getOrDefault(slug, slug)
                        : slug;
        return account.flatMap(a -> bySlug(a.id(), wanted))
                .filter(s -> s.isPublic() || s.account().equals(caller));
    }

    private Optional<Snapshot> bySlug(AccountId account, Slug slug) {
        return query(
                "account_id = :account and slug = :slug",
                Map.of("account", account.toString(), "slug", slug.text()));
    }

    private Optional<Snapshot> query(String where, Map<String, ?> values) {
        return row(where, values).map(row -> row.with(Capture.read(files.snapshot(row.id()))));
    }

    private Optional<Row> row(String where, Map<String, ?> values) {
        return store.read(
                handle ->
                        handle.createQuery("select * from snapshots where " + where)
                                .bindMap(values)
                                .map((row, _) -> Row.read(row))
                                .findOne());
    }

    private static Optional<Slug> slug(String text) {
        try {
            return Optional.of(Slug.parse("snapshotId", text));
        } catch (Failure e) {
            return Optional.empty(); // names nothing
        }
    }

    private static String shown(String name) {
        var clean = name.replaceAll("\\p{Cntrl}", "?");
        return clean.length() <= 80 ? clean : clean.substring(0, 80) + "...";
    }

    /// What the store has of a snapshot; the rest stands beside its files.
    private record Row(
            SnapshotId id,
            AccountId account,
            Optional<Slug> slug,
            Optional<String> displayName,
            boolean isPublic,
            Instant createdAt) {
        static Row read(ResultSet row) throws SQLException {
            return new Row(
                    new SnapshotId(row.getString("id")),
                    AccountId.stored(row.getString("account_id")),
                    Optional.ofNullable(row.getString("slug")).map(Slug::new),
                    Optional.ofNullable(row.getString("display_name")),
                    row.getInt("is_public") == 1,
                    Instant.ofEpochMilli(row.getLong("created_at")));
        }

        Snapshot with(Capture capture) {
            return new Snapshot(id, account, slug, displayName, isPublic, capture, createdAt);
        }
    }
}
