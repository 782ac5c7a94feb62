package coppice.identity;

import coppice.base.Secret;
import coppice.base.Slug;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Optional;

/// A store with two accounts and one user, at a time that the test moves. Its passwords are hashed in no time.
public final class GivenSignIns implements AutoCloseable {
    public static final String PASSWORD = "correct horse battery";
    private static final int ITERATIONS = 10;

    private final Store store;
    private final MovedClock clock = new MovedClock();
    private final Passwords passwords = new Passwords(2, ITERATIONS);
    private final Users users;
    private final PasswordCheck check;

    /// The account of which [#user] is the owner.
    public final Account ada;

    /// An account of nobody's.
    public final Account bob;

    public final User user;

    /// A clock that a test moves.
    private static final class MovedClock extends Clock {
        private volatile Instant now = Instant.parse("2026-03-01T09:30:00Z");

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    public GivenSignIns(Path directory) {
        store = Store.open(directory.resolve("coppice.db"));
        var accounts = new Accounts(store, clock);
        ada = accounts.create(new Slug("ada"), "Ada's account");
        bob = accounts.create(new Slug("bob"), "Bob's account");
        users = new Users(store, clock);
        user = user("ada@example.org", Optional.of("Ada"));
        teams().join(user.id(), ada.id(), Role.OWNER);
        check = new PasswordCheck(users, passwords, clock);
    }

    /// Another user, who has the same password.
    public User user(String email, Optional<String> name) {
        var hash = PasswordHash.of(new Secret(PASSWORD), ITERATIONS);
        return users.create(Email.parse("email", email), name, hash);
    }

    public void pass(Duration time) {
        clock.now = clock.now.plus(time);
    }

    public Clock clock() {
        return clock;
    }

    public Store store() {
        return store;
    }

    public Users users() {
        return users;
    }

    public Teams teams() {
        return new Teams(store);
    }

    public ApiKeys keys() {
        return new ApiKeys(store, clock);
    }

    public SignIns signIns() {
        return new SignIns(store, clock);
    }

    public Sessions sessions() {
        return new Sessions(store, clock);
    }

    public PasswordCheck check() {
        return check;
    }

    /// The refresh token of a new session of this user.
    public String refreshToken(User who) {
        var codes = signIns().begin(SignIns.USUAL_LIFE, Optional.empty());
        signIns().confirm(codes.login().reveal(), who.id());
        return ((SignIns.Polled.Done) signIns().poll(codes.polling().reveal()))
                .refreshToken()
                .reveal();
    }

    /// An access token of a new session of [#user].
    public String accessToken() {
        return sessions().refresh(refreshToken(user)).orElseThrow().reveal();
    }

    long count(String table) {
        return store.read(
                handle ->
                        handle.createQuery("select count(*) from " + table)
                                .mapTo(Long.class)
                                .one());
    }

    @Override
    public void close() {
        passwords.close();
        store.close();
    }
}
