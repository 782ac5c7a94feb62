package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The identities of all accounts. Every look-up names the account: one of another account is as absent as one that never was.
public final class Identities {
    private static final int MAX = 100_000;

    private static final String INSERT =
            """
            insert into identities (id, account_id, managed, created_at)
            values (:id, :account, :managed, :createdAt)
            """;

    private static final String SELECT =
            "select id, account_id, managed, created_at from identities where ";

    private static final String LISTED = "account_id = :account and managed <= :managed";

    private final Store store;
    private final Clock clock;

    /// A part of a list.
    ///
    /// @param total how many there are, of those that were asked for
    public record Listed(List<Identity> identities, long total) {
        public Listed {
            identities = List.copyOf(identities);
        }
    }

    public Identities(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /// `CONFLICT` at the limit of 100,000 identities.
    public Identity create(AccountId account, boolean isManaged) {
        var now = Instant.ofEpochMilli(clock.millis());
        var identity = new Identity(IdentityId.random(), account, isManaged, now);
        store.change(
                handle -> {
                    if (count(handle, account, true) >= MAX) {
                        throw new Failure(
                                Code.CONFLICT,
                                "the account has %d identities, its limit; delete one first"
                                        .formatted(MAX));
                    }
                    insert(handle, identity);
                });
        return identity;
    }

    /// Newest first.
    ///
    /// @param withManaged whether managed identities are listed and counted, too
    public Listed list(AccountId account, boolean withManaged, int limit, long offset) {
        return store.read(
                handle ->
                        new Listed(
                                handle.createQuery(
                                                SELECT
                                                        + LISTED
                                                        + " order by created_at desc, id desc limit :limit offset :offset")
                                        .bind("account", account.toString())
                                        .bind("managed", withManaged ? 1 : 0)
                                        .bind("limit", limit)
                                        .bind("offset", offset)
                                        .map((row, _) -> identity(row))
                                        .list(),
                                count(handle, account, withManaged)));
    }

    /// `IDENTITY_NOT_FOUND` if the account has no identity with this text as its id.
    public Identity require(AccountId account, String id) {
        return store.read(handle -> require(handle, account, id));
    }

    /// Its tokens and grants go with it, at once. `IDENTITY_NOT_FOUND` as [#require]; `MANAGED_IDENTITY_DELETE` for a managed one.
    public void delete(AccountId account, String id) {
        store.change(
                handle -> {
                    if (require(handle, account, id).isManaged()) {
                        throw new Failure(
                                Code.MANAGED_IDENTITY_DELETE,
                                "identity %s is managed by the platform and cannot be deleted"
                                        .formatted(id));
                    }
                    handle.createUpdate("delete from identities where id = :id")
                            .bind("id", id)
                            .execute();
                });
    }

    static Identity require(Handle handle, AccountId account, String id) {
        return IdentityId.parse(id)
                .flatMap(it -> find(handle, account, it))
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.IDENTITY_NOT_FOUND,
                                        "this account has no identity %s".formatted(id)));
    }

    private static Optional<Identity> find(Handle handle, AccountId account, IdentityId id) {
        return handle.createQuery(SELECT + "id = :id and account_id = :account")
                .bind("id", id.toString())
                .bind("account", account.toString())
                .map((row, _) -> identity(row))
                .findOne();
    }

    private static long count(Handle handle, AccountId account, boolean withManaged) {
        return handle.createQuery("select count(*) from identities where " + LISTED)
                .bind("account", account.toString())
                .bind("managed", withManaged ? 1 : 0)
                .mapTo(Long.class)
                .one();
    }

    private static void insert(Handle handle, Identity identity) {
        handle.createUpdate(INSERT)
                .bind("id", identity.id().toString())
                .bind("account", identity.account().toString())
                .bind("managed", identity.isManaged() ? 1 : 0)
                .bind("createdAt", identity.createdAt().toEpochMilli())
                .execute();
    }

    private static Identity identity(ResultSet row) throws SQLException {
        return new Identity(
                IdentityId.stored(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                row.getInt("managed") == 1,
                Instant.ofEpochMilli(row.getLong("created_at")));
    }
}
