package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Label;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The people who sign in. What they do, they do as an account: see [Teams].
public final class Users {
    private static final int MAX = 10_000;

    private static final String INSERT =
            """
            insert into users (id, email, name, password_hash, created_at)
            values (:id, :email, :name, :hash, :createdAt)
            """;

    private final Store store;
    private final Clock clock;

    record Known(User user, PasswordHash password) {}

    public Users(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /// `CONFLICT` if the email address is another one's, or at the limit of 10,000 users; `BAD_REQUEST` if the name has not 1 to 128
    /// printable characters.
    public User create(Email email, Optional<String> name, PasswordHash password) {
        var user =
                new User(
                        UserId.random(),
                        email,
                        name.map(it -> Label.parse("name", it).text()),
                        Instant.ofEpochMilli(clock.millis()));
        try {
            store.change(handle -> insert(handle, user, password));
        } catch (RuntimeException e) {
            if (Store.isUniqueViolation(e)) {
                throw new Failure(
                        Code.CONFLICT,
                        "there is a user %s; './coppice user password' gives it a new password"
                                .formatted(email),
                        e);
            }
            throw e;
        }
        return user;
    }

    private static void insert(Handle handle, User user, PasswordHash password) {
        var there = handle.createQuery("select count(*) from users").mapTo(Integer.class).one();
        if (there >= MAX) {
            throw new Failure(
                    Code.CONFLICT,
                    "there are %d users, the limit; delete one first".formatted(there));
        }
        handle.createUpdate(INSERT)
                .bind("id", user.id().toString())
                .bind("email", user.email().text())
                .bind("name", user.name())
                .bind("hash", password.text())
                .bind("createdAt", user.createdAt().toEpochMilli())
                .execute();
    }

    /// All, by email address.
    public List<User> list() {
        return store.read(
                handle ->
                        handle.createQuery("select * from users order by email")
                                .map((row, _) -> user(row))
                                .list());
    }

    public Optional<User> find(UserId id) {
        return store.read(
                handle ->
                        handle.createQuery("select * from users where id = :id")
                                .bind("id", id.toString())
                                .map((row, _) -> user(row))
                                .findOne());
    }

    /// `NOT_FOUND` if there is none.
    public User require(Email email) {
        return known(email)
                .map(Known::user)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "there is no user %s; './coppice user list' shows those there are"
                                                .formatted(email)));
    }

    Optional<Known> known(Email email) {
        return store.read(
                handle ->
                        handle.createQuery("select * from users where email = :email")
                                .bind("email", email.text())
                                .map(
                                        (row, _) ->
                                                new Known(
                                                        user(row),
                                                        new PasswordHash(
                                                                row.getString("password_hash"))))
                                .findOne());
    }

    /// Gives it another password. All of its sign-ins end, at once.
    public void setPassword(UserId id, PasswordHash password) {
        store.change(
                handle -> {
                    handle.createUpdate("update users set password_hash = :hash where id = :id")
                            .bind("hash", password.text())
                            .bind("id", id.toString())
                            .execute();
                    remove(handle, "sign_ins where user_id = :id", id);
                    remove(handle, "sessions where user_id = :id", id);
                });
    }

    /// It is signed out of everything at once. API keys that it made belong to their accounts, and stay.
    public void delete(UserId id) {
        store.change(handle -> remove(handle, "users where id = :id", id));
    }

    private static void remove(Handle handle, String what, UserId id) {
        handle.createUpdate("delete from " + what).bind("id", id.toString()).execute();
    }

    static User user(ResultSet row) throws SQLException {
        return new User(
                UserId.stored(row.getString("id")),
                new Email(row.getString("email")),
                Optional.ofNullable(row.getString("name")),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }
}
