package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Label;
import coppice.base.Slug;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The accounts of this installation. One of them is the platform's own: it owns the public base snapshots. Its slug is the brand word,
/// and follows it; it is found as `svc`, too.
public final class Accounts {
    /// The brand word of the wire contract.
    private static final Slug SVC = new Slug("svc");

    private static final String INSERT =
            """
            insert into accounts (id, slug, name, created_at, platform)
            values (:id, :slug, :name, :createdAt, :platform)
            on conflict (slug) do nothing
            """;

    private static final String SELECT = "select id, slug, name, created_at from accounts where ";

    private final Store store;
    private final Clock clock;
    private final Account platform;

    public Accounts(Store store, Clock clock) {
        this(store, clock, SVC);
    }

    /// Ensures that the platform's account exists and has the brand word as its slug. `CONFLICT` if another account has that.
    public Accounts(Store store, Clock clock, Slug brand) {
        this.store = store;
        this.clock = clock;
        this.platform =
                store.read(Accounts::platform)
                        .filter(account -> account.slug().equals(brand))
                        .orElseGet(() -> store.write(handle -> platform(handle, brand)));
    }

    private static Optional<Account> platform(Handle handle) {
        return select(handle, "platform = :it", 1);
    }

    private Account platform(Handle handle, Slug brand) {
        var before = platform(handle);
        if (select(handle, "slug = :it and platform = 0", brand.text()).isPresent()) {
            throw new Failure(
                    Code.CONFLICT,
                    "api.brand: an account is called %s; choose another brand word"
                            .formatted(brand));
        }
        if (before.isEmpty()) {
            return ensure(handle, made(brand, "Platform"), true);
        }
        handle.createUpdate("update accounts set slug = :slug where platform = 1")
                .bind("slug", brand.text())
                .execute();
        return platform(handle).orElseThrow();
    }

    public Account platform() {
        return platform;
    }

    /// `CONFLICT` if the slug is taken, `BAD_REQUEST` if the name has not 1 to 128 printable characters.
    public Account create(Slug slug, String name) {
        var account = made(slug, Label.parse("name", name).text());
        boolean isReserved = slug.equals(SVC);
        if (isReserved || !store.write(handle -> ensure(handle, account, false)).equals(account)) {
            throw new Failure(
                    Code.CONFLICT,
                    "an account with slug %s exists; choose another".formatted(slug));
        }
        return account;
    }

    public Optional<Account> find(AccountId id) {
        return store.read(handle -> select(handle, "id = :it", id.toString()));
    }

    public Optional<Account> find(Slug slug) {
        var found = store.read(handle -> select(handle, "slug = :it", slug.text()));
        return found.isEmpty() && slug.equals(SVC) ? Optional.of(platform) : found;
    }

    private Account made(Slug slug, String name) {
        return new Account(AccountId.random(), slug, name, Instant.ofEpochMilli(clock.millis()));
    }

    /// The account that holds the slug after this: the given one, or another that had it before.
    private static Account ensure(Handle handle, Account account, boolean isPlatform) {
        handle.createUpdate(INSERT)
                .bind("id", account.id().toString())
                .bind("slug", account.slug().text())
                .bind("name", account.name())
                .bind("createdAt", account.createdAt().toEpochMilli())
                .bind("platform", isPlatform ? 1 : 0)
                .execute();
        return select(handle, "slug = :it", account.slug().text()).orElseThrow();
    }

    private static Optional<Account> select(Handle handle, String condition, Object it) {
        return handle.createQuery(SELECT + condition)
                .bind("it", it)
                .map((row, _) -> account(row))
                .findOne();
    }

    private static Account account(ResultSet row) throws SQLException {
        return new Account(
                AccountId.stored(row.getString("id")),
                new Slug(row.getString("slug")),
                row.getString("name"),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }
}
