package coppice.identity;

import coppice.base.Secret;
import coppice.store.Store;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// What sign-ins have led to. A session has one refresh token for as long as it lasts: a year, or until it was not used for 30 days. With
/// that its program gets access tokens, each good for an hour. Both end at once when the user is deleted or gets another password.
///
/// The refresh token stays the same: programs of one user share it, and one of them must not shut the others out.
public final class Sessions {
    private static final int MAX_OF_A_USER = 50;
    private static final int MAX_TOKENS = 1000;
    private static final String REFRESH = "srt";
    private static final String ACCESS = "sat";
    static final Duration LIFE = Duration.ofDays(365);
    static final Duration UNUSED = Duration.ofDays(30);
    static final Duration TOKEN_LIFE = Duration.ofHours(1);

    private static final String INSERT =
            """
            insert into sessions (id, user_id, secret_hash, created_at, used_at)
            values (:id, :user, :hash, :now, :now)
            """;

    private static final String FORGET_SESSIONS =
            "delete from sessions where used_at <= :unused or created_at <= :born";

    /// Those that were not used for longest, beyond the limit.
    private static final String FORGET_SURPLUS_SESSIONS =
            """
            delete from sessions where id in
            (select id from sessions where user_id = :user order by used_at desc, id limit 1000 offset :max)
            """;

    private static final String INSERT_TOKEN =
            """
            insert into access_tokens (id, session_id, secret_hash, expires_at)
            values (:id, :session, :hash, :expiresAt)
            """;

    /// The oldest, beyond the limit.
    private static final String FORGET_SURPLUS_TOKENS =
            """
            delete from access_tokens where id in
            (select id from access_tokens where session_id = :session order by expires_at desc, id limit 1000 offset :max)
            """;

    private static final String HOLDER =
            """
            select access_tokens.secret_hash, session_id, user_id
            from access_tokens join sessions on sessions.id = session_id
            where access_tokens.id = :id and expires_at > :now
            """;

    private final Store store;
    private final Clock clock;

    private record Holder(SignedIn who, SecretHash hash) {}

    public Sessions(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /// A new session's refresh token, within a unit of the store. At the limit of 50 the one that was not used for longest ends.
    static Secret begin(Handle handle, UserId user, long now) {
        forget(handle, now);
        var token = NamedSecret.random(REFRESH);
        handle.createUpdate(INSERT)
                .bind("id", token.id())
                .bind("user", user.toString())
                .bind("hash", SecretHash.of(token.secret()).text())
                .bind("now", now)
                .execute();
        handle.createUpdate(FORGET_SURPLUS_SESSIONS)
                .bind("user", user.toString())
                .bind("max", MAX_OF_A_USER)
                .execute();
        return token.whole();
    }

    private static void forget(Handle handle, long now) {
        handle.createUpdate(FORGET_SESSIONS)
                .bind("unused", now - UNUSED.toMillis())
                .bind("born", now - LIFE.toMillis())
                .execute();
        handle.createUpdate("delete from access_tokens where expires_at <= :now")
                .bind("now", now)
                .execute();
    }

    /// A new access token; empty if the refresh token is malformed or unknown, or its session is over. At the limit of 1000 of one session
    /// the oldest ends.
    public Optional<Secret> refresh(String refreshToken) {
        long now = clock.millis();
        return NamedSecret.parse(REFRESH, refreshToken)
                .filter(token -> store.read(handle -> isSession(handle, token, now)))
                .flatMap(token -> store.write(handle -> accessToken(handle, token, now)));
    }

    private static boolean isSession(Handle handle, NamedSecret token, long now) {
        return handle.createQuery(
                        """
                        select secret_hash from sessions
                        where id = :id and used_at > :unused and created_at > :born
                        """)
                .bind("id", token.id())
                .bind("unused", now - UNUSED.toMillis())
                .bind("born", now - LIFE.toMillis())
                .mapTo(String.class)
                .findOne()
                .filter(hash -> new SecretHash(hash).isOf(token.secret()))
                .isPresent();
    }

    private static Optional<Secret> accessToken(Handle handle, NamedSecret session, long now) {
        forget(handle, now);
        int used =
                handle.createUpdate("update sessions set used_at = :now where id = :id")
                        .bind("now", now)
                        .bind("id", session.id())
                        .execute();
        if (used == 0) {
            return Optional.empty(); // it ended in the meantime
        }
        var token = NamedSecret.random(ACCESS);
        handle.createUpdate(INSERT_TOKEN)
                .bind("id", token.id())
                .bind("session", session.id())
                .bind("hash", SecretHash.of(token.secret()).text())
                .bind("expiresAt", now + TOKEN_LIFE.toMillis())
                .execute();
        handle.createUpdate(FORGET_SURPLUS_TOKENS)
                .bind("session", session.id())
                .bind("max", MAX_TOKENS)
                .execute();
        return Optional.of(token.whole());
    }

    /// Whose an access token is; empty if it is malformed, unknown or expired. Asks the store each time, so that the end of a session takes
    /// effect at once. `UNAVAILABLE` if the store cannot be asked.
    public Optional<SignedIn> authenticate(String accessToken) {
        return NamedSecret.parse(ACCESS, accessToken)
                .flatMap(
                        token ->
                                store.read(handle -> holder(handle, token.id(), clock.millis()))
                                        .filter(holder -> holder.hash.isOf(token.secret()))
                                        .map(Holder::who));
    }

    private static Optional<Holder> holder(Handle handle, String token, long now) {
        return handle.createQuery(HOLDER)
                .bind("id", token)
                .bind("now", now)
                .map(
                        (row, _) ->
                                new Holder(
                                        new SignedIn(
                                                UserId.stored(row.getString("user_id")),
                                                row.getString("session_id")),
                                        new SecretHash(row.getString("secret_hash"))))
                .findOne();
    }

    /// Whether the session goes on, whatever became of the access token: for what was begun with that one and lasts longer.
    public boolean isAlive(SignedIn who) {
        long now = clock.millis();
        return store.read(
                handle ->
                        handle.createQuery(
                                                """
                                        select count(*) from sessions where id = :id and user_id = :user
                                        and used_at > :unused and created_at > :born
                                        """)
                                        .bind("id", who.session())
                                        .bind("user", who.user().toString())
                                        .bind("unused", now - UNUSED.toMillis())
                                        .bind("born", now - LIFE.toMillis())
                                        .mapTo(Integer.class)
                                        .one()
                                > 0);
    }
}
