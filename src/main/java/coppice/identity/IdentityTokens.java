package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.store.Lookup;
import coppice.store.Remembered;
import coppice.store.Store;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/// The access tokens of all identities. A token acts as its identity until it is revoked. An identity that the account does not have is
/// `IDENTITY_NOT_FOUND` in every method.
public final class IdentityTokens {
    private static final int MAX = 100;

    private static final String INSERT =
            """
            insert into identity_tokens (id, identity_id, secret_hash, created_at)
            values (:id, :identity, :secretHash, :createdAt)
            """;

    private static final Lookup<Holder> HOLDER =
            new Lookup<>(
                    """
                    select identities.id, account_id, secret_hash
                    from identity_tokens join identities on identities.id = identity_id
                    where identity_tokens.id = ?
                    """,
                    row ->
                            new Holder(
                                    new Caller(
                                            AccountId.stored(row.getString(2)),
                                            Optional.of(IdentityId.stored(row.getString(1)))),
                                    new SecretHash(row.getString(3))));

    private final Store store;
    private final Clock clock;
    private final Remembered<Holder> holders;

    private record Holder(Caller caller, SecretHash hash) {}

    public IdentityTokens(Store store, Clock clock) {
        this.store = store;
        this.holders = new Remembered<>(store, HOLDER);
        this.clock = clock;
    }

    /// `CONFLICT` at the limit of 100 tokens.
    public NewToken create(AccountId account, String identity) {
        var text = TokenText.random();
        store.change(
                handle -> {
                    Identities.require(handle, account, identity);
                    if (ids(handle, identity).size() >= MAX) {
                        throw new Failure(
                                Code.CONFLICT,
                                "the identity has %d tokens, its limit; revoke one first"
                                        .formatted(MAX));
                    }
                    handle.createUpdate(INSERT)
                            .bind("id", text.id().toString())
                            .bind("identity", identity)
                            .bind("secretHash", SecretHash.of(text.secret()).text())
                            .bind("createdAt", clock.millis())
                            .execute();
                });
        return new NewToken(text.id(), text.whole());
    }

    /// The ids of all, newest first.
    public List<UUID> list(AccountId account, String identity) {
        return store.read(
                handle -> {
                    Identities.require(handle, account, identity);
                    return ids(handle, identity);
                });
    }

    /// From the return on, the token is refused. `NOT_FOUND` if the identity has no such token.
    public void revoke(AccountId account, String identity, String token) {
        store.change(
                handle -> {
                    Identities.require(handle, account, identity);
                    var gone =
                            handle.createUpdate(
                                            "delete from identity_tokens where id = :id and identity_id = :identity")
                                    .bind("id", token)
                                    .bind("identity", identity)
                                    .execute();
                    if (gone == 0) {
                        throw new Failure(
                                Code.NOT_FOUND, "this identity has no token %s".formatted(token));
                    }
                });
    }

    /// Who sent this token; empty if it is malformed, unknown or revoked. Revoking takes effect at once. `UNAVAILABLE` if the store
    /// cannot be asked.
    public Optional<Caller> authenticate(String token) {
        return TokenText.parse(token)
                .flatMap(
                        text ->
                                holders.look(text.id().toString())
                                        .filter(holder -> holder.hash.isOf(text.secret()))
                                        .map(Holder::caller));
    }

    private static List<UUID> ids(Handle handle, String identity) {
        return handle.createQuery(
                        "select id from identity_tokens where identity_id = :identity order by created_at desc, id desc")
                .bind("identity", identity)
                .map((row, _) -> UUID.fromString(row.getString("id")))
                .list();
    }
}
