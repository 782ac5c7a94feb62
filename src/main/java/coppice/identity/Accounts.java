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

/// The accounts of this installation. One of them is the platform's own: it owns the public base snapshots.
public final class Accounts {
    /// The brand word of the wire contract.
    private static final Slug PLATFORM = new Slug("svc");

    private static final String INSERT =
            """
            insert into accounts (id, slug, name, created_at)
            values (:id, :slug, :name, :createdAt)
            on conflict (slug) do nothing
            """;

    private static final String SELECT = "select id, slug, name, created_at from accounts where ";

    private final Store store;
    private final Clock clock;
    private final Account platform;

    /// Ensures that the platform's account exists.
    public Accounts(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
        this.platform =
                find(PLATFORM)
                        .orElseGet(
                                () ->
                                        store.write(
                                                handle ->
                                                        ensure(
                                                                handle,
                                                                made(PLATFORM, "Platform"))));
    }

    public Account platform() {
        return platform;
    }

    /// `CONFLICT` if the slug is taken, `BAD_REQUEST` if the name has not 1 to 128 printable characters.
    public Account create(Slug slug, String name) {
        var account = made(slug, Label.parse("name", name).text());
        if (!store.write(handle -> ensure(handle, account)).equals(account)) {
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
        return store.read(handle -> select(handle, "slug = :it", slug.text()));
    }

    private Account made(Slug slug, String name) {
        return new Account(AccountId.random(), slug, name, Instant.ofEpochMilli(clock.millis()));
    }

    /// The account that holds the slug after this: the given one, or another that had it before.
    private static Account ensure(Handle handle, Account account) {
        handle.createUpdate(INSERT)
                .bind("id", account.id().toString())
                .bind("slug", account.slug().text())
                .bind("name", account.name())
                .bind("createdAt", account.createdAt().toEpochMilli())
                .execute();
        return select(handle, "slug = :it", account.slug().text()).orElseThrow();
    }

    private static Optional<Account> select(Handle handle, String condition, String it) {
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
