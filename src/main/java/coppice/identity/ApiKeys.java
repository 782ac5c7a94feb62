package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Label;
import coppice.store.Lookup;
import coppice.store.Remembered;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The API keys of all accounts. A key gives full rights on its account until it is revoked.
public final class ApiKeys {
    private static final int MAX_ACTIVE = 100;
    private static final int MAX_LISTED = 1000;

    private static final String INSERT =
            """
            insert into api_keys (id, account_id, name, secret_hash, created_at, user_id)
            values (:id, :account, :name, :secretHash, :createdAt, :maker)
            """;

    private static final String LIST =
            """
            select id, account_id, name, user_id, created_at, revoked_at from api_keys
            where account_id = :account order by created_at desc, id desc limit :limit
            """;

    private static final Lookup<Active> ACTIVE =
            new Lookup<>(
                    "select account_id, secret_hash from api_keys where id = ? and revoked_at is null",
                    row ->
                            new Active(
                                    AccountId.stored(row.getString(1)),
                                    new SecretHash(row.getString(2))));

    private final Store store;
    private final Clock clock;
    private final Remembered<Active> active;

    public ApiKeys(Store store, Clock clock) {
        this.store = store;
        this.active = new Remembered<>(store, ACTIVE);
        this.clock = clock;
    }

    /// `NOT_FOUND` without such an account, `CONFLICT` at the limit of 100 keys not revoked, `BAD_REQUEST` if the name has not
    /// 1 to 128 printable characters.
    public NewApiKey create(AccountId account, String name) {
        return create(account, name, Optional.empty());
    }

    /// As [#create], by somebody who is signed in.
    public NewApiKey create(AccountId account, String name, UserId maker) {
        return create(account, name, Optional.of(maker));
    }

    private NewApiKey create(AccountId account, String name, Optional<UserId> maker) {
        var text = KeyText.random();
        var key =
                new ApiKey(
                        text.id(),
                        account,
                        Label.parse("name", name).text(),
                        maker,
                        now(),
                        Optional.empty());
        store.change(
                handle -> {
                    refuseOverLimit(handle, account);
                    insert(handle, key, SecretHash.of(text.secret()));
                });
        return new NewApiKey(key, text.bearer());
    }

    /// Who sent this bearer text; empty if it is malformed, unknown or revoked. Revoking takes effect at once, also when another
    /// process does it. `UNAVAILABLE` if the store cannot be asked.
    public Optional<Caller> authenticate(String bearer) {
        return KeyText.parse(bearer)
                .flatMap(
                        text ->
                                active.look(text.id().text())
                                        .filter(stored -> stored.hash.isOf(text.secret()))
                                        .map(stored -> Caller.of(stored.account)));
    }

    /// The newest 1000 keys of the account, revoked ones too, newest first.
    public List<ApiKey> list(AccountId account) {
        return store.read(
                handle ->
                        handle.createQuery(LIST)
                                .bind("account", account.toString())
                                .bind("limit", MAX_LISTED)
                                .map((row, _) -> key(row))
                                .list());
    }

    /// From the return on, the key is refused. Revoking again changes nothing; `NOT_FOUND` if the account has no such key.
    public void revoke(AccountId account, ApiKeyId id) {
        var found =
                store.write(
                        handle ->
                                handle.createUpdate(
                                                """
                                                update api_keys set revoked_at = coalesce(revoked_at, :now)
                                                where id = :id and account_id = :account
                                                """)
                                        .bind("now", clock.millis())
                                        .bind("id", id.text())
                                        .bind("account", account.toString())
                                        .execute());
        if (found == 0) {
            throw new Failure(Code.NOT_FOUND, "this account has no API key %s".formatted(id));
        }
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    private static void refuseOverLimit(Handle handle, AccountId account) {
        var exists = count(handle, "select count(*) from accounts where id = :account", account);
        if (exists == 0) {
            throw new Failure(Code.NOT_FOUND, "there is no account %s".formatted(account));
        }
        var active =
                count(
                        handle,
                        "select count(*) from api_keys where account_id = :account and revoked_at is null",
                        account);
        if (active >= MAX_ACTIVE) {
            throw new Failure(
                    Code.CONFLICT,
                    "the account has %d API keys, its limit; revoke one first".formatted(active));
        }
    }

    private static int count(Handle handle, String query, AccountId account) {
        return handle.createQuery(query)
                .bind("account", account.toString())
                .mapTo(Integer.class)
                .one();
    }

    private static void insert(Handle handle, ApiKey key, SecretHash hash) {
        handle.createUpdate(INSERT)
                .bind("id", key.id().text())
                .bind("account", key.account().toString())
                .bind("name", key.name())
                .bind("secretHash", hash.text())
                .bind("createdAt", key.createdAt().toEpochMilli())
                .bind("maker", key.maker().map(UserId::toString))
                .execute();
    }

    private static ApiKey key(ResultSet row) throws SQLException {
        var revokedAt = row.getLong("revoked_at");
        boolean isActive = row.wasNull(); // it speaks of the column that was read last
        return new ApiKey(
                new ApiKeyId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                row.getString("name"),
                Optional.ofNullable(row.getString("user_id")).map(UserId::stored),
                Instant.ofEpochMilli(row.getLong("created_at")),
                isActive ? Optional.empty() : Optional.of(Instant.ofEpochMilli(revokedAt)));
    }

    private record Active(AccountId account, SecretHash hash) {}
}
