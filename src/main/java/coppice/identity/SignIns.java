package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.store.Store;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// Sign-ins under way. A program begins one and polls with one code; the person in front of it opens a page with the other one and says who
/// it is. The first poll after that gets a session, once, and the sign-in is over. What nobody confirms, or polls, is forgotten in its
/// time.
///
/// Of the codes only hashes are stored, which have all the chance of the codes, so that they are what a sign-in is found by.
public final class SignIns {
    private static final int MAX = 1000;
    private static final int MAX_OF_A_SOURCE = 20;
    public static final Duration USUAL_LIFE = Duration.ofMinutes(10);
    public static final Duration LONGEST_LIFE = Duration.ofHours(1);

    private static final String INSERT =
            """
            insert into sign_ins (polling_hash, login_hash, source, created_at, expires_at)
            values (:polling, :login, :source, :now, :expiresAt)
            """;

    private static final String CONFIRM =
            """
            update sign_ins set user_id = :user
            where login_hash = :login and user_id is null and expires_at > :now
            """;

    private final Store store;
    private final Clock clock;

    /// What a program gets that begins a sign-in: shown to nobody else.
    public record Codes(Secret polling, Secret login) {}

    /// One that waits for somebody to confirm it.
    public record Waiting(Instant since, Optional<Source> source) {}

    /// What a poll finds.
    public sealed interface Polled {
        /// Nobody has confirmed it yet.
        record Pending() implements Polled {}

        /// It is confirmed, and over with this answer.
        record Done(Secret refreshToken) implements Polled {}

        /// It is over, or never was.
        record Gone() implements Polled {}
    }

    private record Row(Optional<UserId> user) {}

    public SignIns(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /// `RATE_LIMITED` when 20 from there are under way, `UNAVAILABLE` when 1000 are.
    ///
    /// @param life shortened to an hour
    public Codes begin(Duration life, Optional<Source> source) {
        var codes = new Codes(SecretHash.secret(), SecretHash.secret());
        var kept = life.compareTo(LONGEST_LIFE) < 0 ? life : LONGEST_LIFE;
        long now = clock.millis();
        store.change(
                handle -> {
                    forget(handle, now);
                    refuseOverLimit(handle, source);
                    handle.createUpdate(INSERT)
                            .bind("polling", SecretHash.of(codes.polling).text())
                            .bind("login", SecretHash.of(codes.login).text())
                            .bind("source", source.map(Source::text))
                            .bind("now", now)
                            .bind("expiresAt", now + kept.toMillis())
                            .execute();
                });
        return codes;
    }

    private static void forget(Handle handle, long now) {
        handle.createUpdate("delete from sign_ins where expires_at <= :now")
                .bind("now", now)
                .execute();
    }

    private static void refuseOverLimit(Handle handle, Optional<Source> source) {
        if (source.isPresent() && count(handle, source) >= MAX_OF_A_SOURCE) {
            throw new Failure(
                            Code.RATE_LIMITED,
                            "%d sign-ins from your address are under way; finish one, or wait until they expire"
                                    .formatted(MAX_OF_A_SOURCE))
                    .retryAfter(Duration.ofMinutes(1));
        }
        if (count(handle, Optional.empty()) >= MAX) {
            throw new Failure(
                            Code.UNAVAILABLE,
                            "too many sign-ins are under way; try again in a minute")
                    .retryAfter(Duration.ofMinutes(1));
        }
    }

    /// Of this source, or of all.
    private static int count(Handle handle, Optional<Source> source) {
        var query =
                handle.createQuery(
                        "select count(*) from sign_ins"
                                + (source.isPresent() ? " where source = :source" : ""));
        source.ifPresent(it -> query.bind("source", it.text()));
        return query.mapTo(Integer.class).one();
    }

    /// The sign-in with this login code, while nobody has confirmed it.
    public Optional<Waiting> waiting(String login) {
        return store.read(
                handle ->
                        handle.createQuery(
                                        """
                                        select created_at, source from sign_ins
                                        where login_hash = :login and user_id is null and expires_at > :now
                                        """)
                                .bind("login", hash(login))
                                .bind("now", clock.millis())
                                .map(
                                        (row, _) ->
                                                new Waiting(
                                                        Instant.ofEpochMilli(
                                                                row.getLong("created_at")),
                                                        Optional.ofNullable(row.getString("source"))
                                                                .map(Source::new)))
                                .findOne());
    }

    /// Lets the program that polls act for this user. `NOT_FOUND` if the sign-in is not [#waiting] any more.
    public void confirm(String login, UserId user) {
        if (!isConfirmed(login, user)) {
            throw new Failure(
                    Code.NOT_FOUND, "this sign-in is over, or was confirmed already; begin anew");
        }
    }

    private boolean isConfirmed(String login, UserId user) {
        try {
            return store.write(
                            handle ->
                                    handle.createUpdate(CONFIRM)
                                            .bind("user", user.toString())
                                            .bind("login", hash(login))
                                            .bind("now", clock.millis())
                                            .execute())
                    > 0;
        } catch (RuntimeException e) {
            if (Store.isMissingReference(e)) {
                return false; // the user was deleted just then
            }
            throw e;
        }
    }

    /// Asked again and again by the program that began it.
    public Polled poll(String polling) {
        var hash = hash(polling);
        long now = clock.millis();
        var row = store.read(handle -> find(handle, hash, now));
        if (row.isEmpty()) {
            return new Polled.Gone();
        }
        return row.get().user.isEmpty()
                ? new Polled.Pending()
                : store.write(handle -> finish(handle, hash, now));
    }

    /// Two polls at once get one session.
    private static Polled finish(Handle handle, String hash, long now) {
        var user = find(handle, hash, now).flatMap(Row::user);
        if (user.isEmpty()) {
            return new Polled.Gone();
        }
        handle.createUpdate("delete from sign_ins where polling_hash = :polling")
                .bind("polling", hash)
                .execute();
        return new Polled.Done(Sessions.begin(handle, user.get(), now));
    }

    private static Optional<Row> find(Handle handle, String hash, long now) {
        return handle.createQuery(
                        "select user_id from sign_ins where polling_hash = :polling and expires_at > :now")
                .bind("polling", hash)
                .bind("now", now)
                .map(
                        (row, _) ->
                                new Row(
                                        Optional.ofNullable(row.getString("user_id"))
                                                .map(UserId::stored)))
                .findOne();
    }

    /// Whatever was sent has one, and what is none of our codes has one that nothing has.
    private static String hash(String code) {
        return SecretHash.of(new Secret(code)).text();
    }
}
